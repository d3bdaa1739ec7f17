package command

import (
	"errors"
	"strings"
)

// Code is the exit code of a command that ended with err.
func Code(err error) int {
	var exit ExitError
	var wrong UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return exit.Code
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
