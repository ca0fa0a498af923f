// faultline_check.js: a checker in Node that stays, for `faultline explore --check-loop`.
// Copy this file beside your checker. It needs Node 12 or newer and nothing else.
//
//   const { checkLoop, Noticed } = require('./faultline_check')
//   checkLoop(async (directory, output) => {   // the crash state, and what was acknowledged
//     return null                              // or the reason why the state is not fine
//   })
//
// Throw new Noticed('why') when the program says itself that its files are damaged. Any other error
// means that the state is broken. What a judge opens it closes: the next state comes into the same
// directory. What it prints with console.log goes to standard error.
'use strict'
const fs = require('fs')
const readline = require('readline')

class Noticed extends Error {}

async function checkLoop(judge) {
  const home = process.cwd()
  console.log = console.error
  const lines = readline.createInterface({ input: process.stdin, terminal: false })
  for await (const line of lines) {
    const request = JSON.parse(line)
    Object.assign(process.env, request.environment)
    process.chdir(request.directory)
    let answer
    try {
      const reason = await judge(request.directory, request.output)
      answer = reason == null ? 'held' : 'broken ' + reason
    } catch (error) {
      if (!(error instanceof Noticed)) console.error(error.stack)
      answer = (error instanceof Noticed ? 'noticed ' : 'broken ') + error.message
    }
    process.chdir(home)
    fs.writeSync(1, answer.replace(/\s+/g, ' ').trim() + '\n')
  }
}

module.exports = { checkLoop, Noticed }
