package messages

import (
	"errors"
	"strings"
)

// AskedError says that what a person asks for cannot be had: the fault is in the question, and not with the cluster.
type AskedError struct {
	Lack Lack
	// Text says what was attempted, on which object, and why it cannot be.
	Text string
	// Command is what to do about it with the commands; what is no command line says that in its own terms.
	Command string
}

// Lack is what is wrong with what is asked for.
type Lack int

// What can be wrong.
const (
	NoNamespace Lack = iota + 1 // the namespace does not exist
	NotThere                    // the object, the version or the package does not exist
	NotNow                      // it is there, and not, or not any more, as it would have to be
	NotFit                      // the value can never be
)

func (e *AskedError) Error() string { return e.Text + e.end() }

func (e *AskedError) end() string {
	if e.Command == "" {
		return ""
	}
	return "; " + e.Command
}

// Asked is the AskedError that an error is, with all that the error says but for the commands; nil where it is none.
func Asked(err error) *AskedError {
	var asked *AskedError
	if !errors.As(err, &asked) {
		return nil
	}
	return &AskedError{Lack: asked.Lack, Text: strings.Replace(err.Error(), asked.Error(), asked.Text, 1), Command: asked.Command}
}
