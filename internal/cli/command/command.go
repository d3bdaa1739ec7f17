package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	ExitOK     = 0
	ExitFailed = 1
	// ExitUsage: the command line was not understood.
	ExitUsage = 2
	// ExitNo: the command worked and the answer is no, such as that a cluster is not running or a catalog is not valid.
	ExitNo = 3
)

// Streams are where a command reads and writes: results go to Out, everything else to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// UsageError is a command line that was not understood.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the complaint.
func (e UsageError) Unwrap() error { return e.Err }

// ExitError ends a command that has said all there is to say.
type ExitError struct{ Code int }

func (e ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// Usage makes complaints about arguments usage errors.
func Usage(args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, values []string) error {
		if err := args(cmd, values); err != nil {
			return UsageError{err}
		}
		return nil
	}
}
