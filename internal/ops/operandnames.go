package ops

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"

	"k8s.io/apimachinery/pkg/util/validation"
)

// misnamed is why no definition can be as an operator says that one of its own is; empty where one can. What operators say is not checked by the API server:
// with another name something else would be read, or nothing at all.
func (k OperandKind) misnamed() string {
	plural, group, _ := strings.Cut(k.Definition, ".")
	wrong := ""
	switch {
	case len(k.Definition) > validation.DNS1123SubdomainMaxLength:
		wrong = fmt.Sprintf("no CustomResourceDefinition can be called %s, which has %d characters: a name has at most %d", safetext.Quote(k.Definition), len(k.Definition), validation.DNS1123SubdomainMaxLength)
	case len(validation.IsDNS1035Label(plural)) > 0 || len(validation.IsDNS1123Subdomain(group)) > 0:
		wrong = fmt.Sprintf("no CustomResourceDefinition can be called %s: a name is PLURAL.GROUP, of lower case letters, digits, '-' and '.', such as kites.example.com", safetext.Quote(k.Definition))
	case len(validation.IsDNS1035Label(strings.ToLower(k.Kind))) > 0:
		wrong = fmt.Sprintf("no kind can be called %s: a name consists of at most 63 letters and digits, such as Kite", safetext.Quote(k.Kind))
	case k.Version != "" && len(validation.IsDNS1035Label(k.Version)) > 0:
		wrong = fmt.Sprintf("no version can be called %s: a name is one such as v1 or v1beta1", safetext.Quote(k.Version))
	default:
		return ""
	}
	return wrong + "; correct spec.customresourcedefinitions.owned of " + messages.Clean(safetext.List(k.Operators, shownOperands, ", "))
}
