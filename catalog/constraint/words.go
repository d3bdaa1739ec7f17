package constraint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"github.com/google/cel-go/cel"
)

// inWords says what is wrong with the form of a constraint in words of the constraint, not in those of the program that reads it.
func inWords(err error) error {
	var mistyped *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &mistyped) && mistyped.Field == "":
		return fmt.Errorf("its value is %s, and should be an object with one of gvk, package, all, any, not and cel", a(mistyped.Value))
	case errors.As(err, &mistyped):
		return fmt.Errorf("%s is %s, which does not belong there", mistyped.Field, a(mistyped.Value))
	case errors.As(err, &syntax):
		return fmt.Errorf("its value is not JSON: %w", err)
	}
	if field, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return fmt.Errorf("it has a field %s, which is not known", safetext.Truncate(field, 100))
	}
	return err
}

// a is a kind of JSON value with its article.
func a(kind string) string {
	article := map[string]string{"array": "a list", "object": "an object", "string": "a text", "bool": "true or false", "number": "a number"}[kind]
	if article == "" {
		return safetext.Truncate(kind, 100)
	}
	return article
}

// where says what is wrong with a rule, and at which place, on one line. What a parser would have accepted there is left out.
func where(issues *cel.Issues) error {
	first := issues.Errors()[0]
	if first.Location.Line() < 1 {
		return errors.New("it is nothing that resembles a rule: Syntax error")
	}
	what := first.Message
	for _, noise := range []string{" expecting {", "\n"} {
		what, _, _ = strings.Cut(what, noise)
	}
	what = strings.Replace(what, "'<EOF>'", "the end of the rule", 1)
	// Lines and columns of CEL begin with 1 and with 0.
	return fmt.Errorf("at line %d, column %d: %s", first.Location.Line(), first.Location.Column()+1, what)
}
