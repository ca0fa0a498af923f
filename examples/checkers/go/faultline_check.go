// faultline_check.go: a checker in Go that stays, for `faultline explore --check-loop`.
// Copy this file beside your checker. It needs Go 1.16 or newer and nothing else.
//
//	func main() {
//		CheckLoop(func(directory, output string) error { // the crash state, what was acknowledged
//			return nil // or the reason why the state is not fine
//		})
//	}
//
// Return Noticed("why") when the program says itself that its files are damaged. A panic means that
// the state is broken. What a judge opens it closes: the next state comes into the same directory.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// Noticed is the answer of a program that has noticed the damage.
type Noticed string

func (words Noticed) Error() string { return string(words) }

type request struct {
	Directory   string            `json:"directory"`
	Output      string            `json:"output"`
	Environment map[string]string `json:"environment"`
}

// CheckLoop answers each request on standard input until there are no more.
func CheckLoop(judge func(directory, output string) error) {
	answers := os.Stdout
	os.Stdout = os.Stderr // What a judge prints is no answer.
	home, _ := os.Getwd()
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var next request
		if err := json.Unmarshal(line, &next); err != nil {
			panic(err)
		}
		for name, value := range next.Environment {
			os.Setenv(name, value)
		}
		if err := os.Chdir(next.Directory); err != nil {
			panic(err)
		}
		answer := "held"
		if err := guarded(judge, next); err != nil {
			answer = "broken " + err.Error()
			if noticed, is := err.(Noticed); is {
				answer = "noticed " + string(noticed)
			}
		}
		os.Chdir(home)
		fmt.Fprintln(answers, strings.Join(strings.Fields(answer), " "))
	}
}

func guarded(judge func(directory, output string) error, next request) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			debug.PrintStack()
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return judge(next.Directory, next.Output)
}
