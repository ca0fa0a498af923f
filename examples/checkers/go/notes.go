// notes.go: every acknowledged note is there. Try it:
//
//	go build -o /tmp/notes notes.go faultline_check.go
//	faultline explore --setup 'touch notes' --workload 'sh ../notes.sh' --check-loop /tmp/notes
package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	CheckLoop(func(directory, output string) error {
		notes, err := os.ReadFile("notes")
		if err != nil {
			return err
		}
		acknowledged, err := os.ReadFile(output)
		if err != nil {
			return err
		}
		for _, number := range strings.Fields(string(acknowledged)) {
			if !strings.Contains("\n"+string(notes), "\nnote "+number+"\n") {
				return fmt.Errorf("note %s was acknowledged and is lost", number)
			}
		}
		return nil
	})
}
