package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// Output is the value of -o: text for people, json or yaml for programs.
type Output string

const (
	OutputText Output = "text"
	OutputJSON Output = "json"
	OutputYAML Output = "yaml"
)

func (o *Output) Flag(cmd *cobra.Command) {
	cmd.Flags().StringVarP((*string)(o), "output", "o", string(OutputText), "how to print the result: text, json or yaml")
}

// Progress prints progress where it is in no one's way: not among what programs read.
func (o Output) Progress(s Streams) *ProgressPrinter {
	if o != OutputText {
		return Progress(s.Err)
	}
	return Progress(s.Out)
}

// Printer is a result that can be printed for people.
type Printer interface{ Write(w io.Writer) error }

// Check refuses formats that do not exist.
func (o Output) Check() error {
	switch o {
	case OutputText, OutputJSON, OutputYAML:
		return nil
	}
	return UsageError{fmt.Errorf("output format %q: choose text, json or yaml", string(o))}
}

// Write prints a value for programs, or lets text print it for people.
func (o Output) Write(w io.Writer, value any, text func(io.Writer) error) error {
	var content []byte
	var err error
	switch o {
	case OutputJSON:
		// People read it too: > is written as itself, and not as a number for the sake of browsers.
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(value)
		content = b.Bytes()
	case OutputYAML:
		content, err = yaml.Marshal(value)
	default:
		// All of it is written at once, so that columns of tables are as wide as what is shown in them.
		var b bytes.Buffer
		err := text(&b)
		_, printed := Styled(w).Write(b.Bytes())
		return errors.Join(err, printed)
	}
	if err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	if _, err := w.Write(content); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}
