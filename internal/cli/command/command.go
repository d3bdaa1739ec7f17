package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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

// NoError is an answer that is no, with its reason.
type NoError struct{ Err error }

func (e NoError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e NoError) Unwrap() error { return e.Err }

// Usage makes complaints about arguments usage errors.
func Usage(args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, values []string) error {
		if err := args(cmd, values); err != nil {
			return UsageError{explainArguments(cmd, values, err)}
		}
		return nil
	}
}

// Group is a command that has nothing but others below it: by itself it prints its help, and an unknown one below it is an error.
func Group(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: Usage(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(below...)
	return cmd
}

// Code is the exit code of a command that ended with err.
func Code(err error) int {
	var exit ExitError
	var wrong UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, new(NoError)):
		return ExitNo
	case errors.As(err, &wrong) || strings.HasPrefix(err.Error(), "if any flags in the group ["):
		return ExitUsage
	}
	return ExitFailed
}

// Silent tells whether a command that ended with err has said all there is to say.
func Silent(err error) bool {
	var exit ExitError
	return err == nil || errors.As(err, &exit)
}

// Open opens a file for reading, or standard input under the name -.
func (s Streams) Open(file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(s.In), nil
	}
	return os.Open(file)
}
