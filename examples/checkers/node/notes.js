// notes.js: every acknowledged note is there. Try it:
//   faultline explore --setup 'touch notes' --workload 'sh ../notes.sh' --check-loop 'node notes.js'
'use strict'
const fs = require('fs')
const { checkLoop } = require('./faultline_check')

checkLoop((directory, output) => {
  const there = fs.readFileSync('notes', 'utf8').split('\n')
  for (const number of fs.readFileSync(output, 'utf8').split('\n').filter(Boolean)) {
    if (!there.includes('note ' + number)) return `note ${number} was acknowledged and is lost`
  }
  return null
})
