package console

import (
	"fmt"
	"net/http"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// noRoute is the answer where no page has an address.
var noRoute = &statusError{http.StatusNotFound, "There is no such page", "begin at the catalog, or at what is installed"}

// chooseNamespace is what to do about a namespace that cannot be meant, which every page lets choose.
const chooseNamespace = "choose a namespace in the header, or leave that empty for all of them"

// checkNames refuses an address with a name that nothing in a cluster can have: it is not asked for there. Whether there is such a namespace, or how it is
// called, the page with a form for it says itself, as the form keeps what it has besides.
func (q *query) checkNames(v view) error {
	if err := q.checkLengths(); err != nil || v.posted {
		return err
	}
	if err := canBeNamespace(q.get(namespaceKey)); err != nil {
		return err
	}
	return canBeNamespace(q.path(namespaceKey))
}

// canBeNamespace refuses what no namespace can be called; empty is all of them.
func canBeNamespace(name string) error {
	if name == "" || preview.Check("namespace", name) == nil {
		return nil
	}
	return &statusError{http.StatusBadRequest, fmt.Sprintf("No namespace can be called %q: a name consists of at most 63 lower case letters, digits and '-', and begins and ends with a letter or a digit",
		messages.Line(name, maxAsked)), chooseNamespace}
}

// explainAsked says of a question that cannot be answered what to do in the console.
func explainAsked(err error) *statusError {
	asked := messages.Asked(err)
	switch asked.Lack {
	case messages.NoNamespace:
		return &statusError{http.StatusNotFound, asked.Text, chooseNamespace}
	case messages.NotThere:
		return &statusError{http.StatusNotFound, asked.Text, "correct its name, or go back and load that page again: it may have been removed meanwhile"}
	case messages.NotNow:
		return &statusError{http.StatusConflict, asked.Text, "go back, load that page again, and check what is there now"}
	}
	return &statusError{http.StatusBadRequest, asked.Text, "go back, and correct what it says"}
}

// withoutCommands is what an error says, but for what to do with the commands.
func withoutCommands(err error) string {
	if asked := messages.Asked(err); asked != nil {
		return asked.Text
	}
	return err.Error()
}
