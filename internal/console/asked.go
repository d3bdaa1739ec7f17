package console

import (
	"fmt"
	"net/http"

	"fairlead.dev/fairlead/internal/kubeconfig"
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

// inForm is what to do about a part of what is asked for, with the form of an install or the page that is for it.
var inForm = map[messages.Part]string{
	messages.OfPackage:  "search the catalog for what there is, and choose that",
	messages.OfCatalog:  "choose another catalog in the form",
	messages.OfCatalogs: "add a catalog, at Catalog sources",
	messages.OfChannel:  "choose another channel in the form",
	messages.OfVersion:  "choose another version in the form, or none for the newest",
	messages.OfPlace:    "write another namespace into the form",
	messages.OfTargets:  "choose no install mode in the form, and leave the namespaces to watch empty",
	messages.OfAccount:  "write another ServiceAccount into the form, or none for the manager itself; or have that one created",
	messages.OfExisting: "see it at Installed, and upgrade or uninstall it there; or write another name or namespace into the form",
}

// obstacle is what is in the way of what a form asks for, and what to do about it beside the form; empty where the text says that.
func obstacle(err error) (text, whatToDo string) {
	err = kubeconfig.Explain(err)
	if asked := messages.Asked(err); asked != nil {
		return asked.Text, inForm[asked.Part]
	}
	return err.Error(), ""
}

// explainAsked says of a question that cannot be answered what to do in the console.
func explainAsked(err error) *statusError {
	asked := messages.Asked(err)
	whatToDo := inForm[asked.Part]
	if whatToDo != "" && asked.Part != messages.OfPackage && asked.Part != messages.OfCatalogs {
		whatToDo = "go back, and " + whatToDo
	}
	switch {
	case whatToDo != "" && asked.Lack == messages.NotThere:
		return &statusError{http.StatusNotFound, asked.Text, whatToDo}
	case whatToDo != "" && asked.Lack == messages.NotNow:
		return &statusError{http.StatusConflict, asked.Text, whatToDo}
	case whatToDo != "":
		return &statusError{http.StatusBadRequest, asked.Text, whatToDo}
	}
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
