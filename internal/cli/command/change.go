package command

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Change is what the commands have in common that show what they would change, ask, and then do it.
type Change struct {
	Streams
	Output      Output
	Yes, DryRun bool
}

// Flags adds the flags to a command; dryRun describes --dry-run.
func (c *Change) Flags(cmd *cobra.Command, dryRun string) {
	c.Output.Flag(cmd)
	cmd.Flags().BoolVarP(&c.Yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&c.DryRun, "dry-run", false, dryRun)
}

// Check refuses formats that do not exist, and to ask where a program reads.
func (c *Change) Check() error {
	if c.Output != OutputText && !c.Yes && !c.DryRun {
		return UsageError{fmt.Errorf("-o %s is for programs, which cannot be asked: add --dry-run or --yes", c.Output)}
	}
	return c.Output.Check()
}

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 100

// Ask asks whether to go on, unless --yes says so. Its error ends the command: nothing tells what was not done. No answer is no.
func (c *Change) Ask(question, nothing string) error {
	if c.Yes {
		return nil
	}
	fmt.Fprintf(c.Out, "\n%s [y/N] ", question)
	if c.In != nil {
		line, _ := bufio.NewReader(io.LimitReader(c.In, maxAnswer)).ReadString('\n') // what was said before the end counts
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		}
	}
	fmt.Fprintln(c.Err, nothing+" To do it without being asked, add --yes.")
	return ExitError{Code: ExitNo}
}
