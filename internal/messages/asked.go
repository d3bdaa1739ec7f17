package messages

import "strings"

// AskedError says that what a person asks for cannot be had: the fault is in the question, and not with the cluster.
type AskedError struct {
	Lack Lack
	// Part is the part of the question that is at fault; empty where it is not one alone.
	Part Part
	// Text says what was attempted, on which object, and why it cannot be.
	Text string
	// Command is what to do about it with the commands; what is no command line says that in its own terms.
	Command string
	// Cause is what callers match on; Text says it already.
	Cause error
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

// Part is a part of what is asked for. A command has a flag for it, and a page a field or a page of its own.
type Part string

// Parts of the question what to install, or to go back to.
const (
	OfPackage  Part = "package"
	OfCatalog  Part = "catalog"
	OfCatalogs Part = "catalogs" // there is none at all
	OfChannel  Part = "channel"
	OfVersion  Part = "version"
	OfPlace    Part = "namespace"
	OfTargets  Part = "namespaces to watch"
	OfAccount  Part = "service account"
	OfExisting Part = "what is there" // which is not what is asked for
)

func (e *AskedError) Error() string { return e.Text + e.end() }

// Unwrap is the cause.
func (e *AskedError) Unwrap() error { return e.Cause }

func (e *AskedError) end() string {
	if e.Command == "" {
		return ""
	}
	if strings.HasSuffix(e.Text, "?") {
		return " " + e.Command
	}
	return "; " + e.Command
}

// Asked is the AskedError that an error is, with all that the error says but for the commands; nil where it is none. Of several the first one is it.
func Asked(err error) *AskedError {
	all := allAsked(err)
	if len(all) == 0 {
		return nil
	}
	text := err.Error()
	for _, one := range all {
		text = strings.Replace(text, one.Error(), one.Text, 1)
	}
	return &AskedError{Lack: all[0].Lack, Part: all[0].Part, Text: text, Command: all[0].Command}
}

// allAsked are those that an error consists of.
func allAsked(err error) (all []*AskedError) {
	switch e := err.(type) { //nolint:errorlint // what it wraps is gone through here
	case *AskedError:
		return []*AskedError{e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, allAsked(one)...)
		}
	case interface{ Unwrap() error }:
		return allAsked(e.Unwrap())
	}
	return all
}
