package messages

import (
	"errors"
	"fmt"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestAsked: a command says what to do with commands, and what is no command line leaves that out, whatever the error is within.
func TestAsked(t *testing.T) {
	bare := &AskedError{Lack: NoNamespace, Text: "read namespace nope: there is no such namespace", Command: "correct -n"}
	err := fmt.Errorf("list: %w; nothing else is known", bare)
	must.Equal(t, "as a command says it", err.Error(), "list: read namespace nope: there is no such namespace; correct -n; nothing else is known")
	asked := Asked(err)
	must.Equal(t, "what is wrong", asked.Lack, NoNamespace)
	must.Equal(t, "without the commands", asked.Text, "list: read namespace nope: there is no such namespace; nothing else is known")
	must.Equal(t, "without any", (&AskedError{Text: "a"}).Error(), "a")
	must.Equal(t, "after a question", (&AskedError{Text: "did you mean a?", Command: "b lists them"}).Error(), "did you mean a? b lists them")
	several := Asked(fmt.Errorf("install: %w", errors.Join(&AskedError{Lack: NotThere, Part: OfPlace, Text: "no a", Command: "add --a"}, errors.New("broken"), fmt.Errorf("b: %w", &AskedError{Lack: NotFit, Text: "no b", Command: "-b"}))))
	must.Equal(t, "several", *several, AskedError{Lack: NotThere, Part: OfPlace, Text: "install: no a\nbroken\nb: no b", Command: "add --a"})
	must.Equal(t, "another error", Asked(errors.New("broken")) == nil, true)
}
