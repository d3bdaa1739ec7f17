package registryv1

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"k8s.io/apimachinery/pkg/util/validation"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

const (
	// maxProblems bounds how many problems of a configuration are reported.
	maxProblems = 20
	// maxQuoted is how much of what users wrote is repeated to them.
	maxQuoted = 200
)

// checkConfig holds a configuration against its schema and returns what is wrong with it, at most maxProblems of it, by field. The hints add to
// what is said of an unknown field at the top. What the schema says of namespaces alone is checked here: formats, which depend on the namespace
// of the installation, and what excludes what, for which the validator has no message that names the fields.
func checkConfig(root *spec.Schema, hints map[string]string, namespace string, config any) []string {
	problems := checkNamespaces(root, namespace, config)
	root.OneOf, root.Not = nil, nil
	for name, s := range root.Properties {
		s.Format, s.UniqueItems = "", false
		if s.Items != nil {
			s.Items.Schema.Format = ""
		}
		root.Properties[name] = s
	}
	var found []*openapierrors.Validation
	var others []string // without the place or the code of an error: of the range of a number of the wrong type
	for _, err := range validate.NewSchemaValidator(root, nil, "", strfmt.NewSeededFormats(nil, nil)).Validate(config).Errors {
		var v *openapierrors.Validation
		if errors.As(err, &v) {
			found = append(found, v)
		} else {
			others = append(others, safetext.Truncate(err.Error(), maxQuoted))
		}
	}
	if len(found) == 0 {
		problems = append(problems, others...)
	}
	slices.SortFunc(found, func(a, b *openapierrors.Validation) int {
		return strings.Compare(a.Name+" "+a.Error(), b.Name+" "+b.Error())
	})
	for _, v := range found {
		problems = append(problems, describe(v, hints))
	}
	if len(problems) > maxProblems {
		problems = append(problems[:maxProblems:maxProblems], "and more")
	}
	return problems
}

// describe is an error of the validator in the words that clients of ClusterExtensions look for.
func describe(v *openapierrors.Validation, hints map[string]string) string {
	field := safetext.Truncate(strings.TrimPrefix(v.Name, "."), maxQuoted)
	rest := strings.TrimPrefix(v.Error(), v.Name+" in "+v.In+" ")
	rest = strings.NewReplacer("should", "must", "chars long", "characters long").Replace(rest)
	switch v.Code() {
	case openapierrors.InvalidTypeCode:
		want, _, _ := strings.Cut(strings.TrimPrefix(rest, "must be of type "), ":")
		at := ""
		if field != "" {
			at = fmt.Sprintf(" for field %q", field)
		}
		return fmt.Sprintf("invalid type%s: got %v, want %s", at, v.Value, strings.ReplaceAll(want, ",", " or "))
	case openapierrors.RequiredFailCode:
		return fmt.Sprintf("required field %q is missing", field)
	case openapierrors.UnallowedPropertyCode:
		name := strings.TrimPrefix(fmt.Sprintf("%s.%v", v.Name, v.Value), ".")
		return fmt.Sprintf("unknown field %q%s", safetext.Truncate(name, maxQuoted), hints[name])
	case openapierrors.MinItemsFailCode, openapierrors.MaxItemsFailCode:
		return fmt.Sprintf("invalid value for field %q: got %v items, %s", field, v.Value, rest)
	case openapierrors.PatternFailCode:
		rest = "must match pattern " + strings.TrimSuffix(strings.TrimPrefix(rest, "must match '"), "'")
	}
	if text, ok := v.Value.(string); ok {
		return fmt.Sprintf("invalid value %q: %s (field %q)", safetext.Truncate(text, maxQuoted), rest, field)
	}
	return fmt.Sprintf("invalid value %v: %s (field %q)", v.Value, rest, field)
}

// checkNamespaces checks what the namespaces to watch mean together and for the namespace of the installation. Values of other types are left
// to the validator.
func checkNamespaces(root *spec.Schema, namespace string, config any) []string {
	object, _ := config.(map[string]any)
	_, hasOne := object[watchNamespace]
	many, hasMany := object[watchNamespaces]
	var problems []string
	switch {
	case len(root.OneOf) > 0 && object != nil && !hasOne && !hasMany:
		problems = append(problems, fmt.Sprintf("required field %q is missing (or %q)", watchNamespace, watchNamespaces))
	case (len(root.OneOf) > 0 || root.Not != nil) && hasOne && hasMany:
		problems = append(problems, fmt.Sprintf("fields %q and %q exclude each other: set one of them", watchNamespace, watchNamespaces))
	}
	check := func(value any, field, format string) {
		name, _ := value.(string)
		switch {
		case len(validation.IsDNS1123Label(name)) > 0: // the validator reports what is no name
		case format == formatOwn && name != namespace:
			problems = append(problems, fmt.Sprintf("invalid value %q: must be %q (field %q: the operator can only watch the namespace that it is installed in)", name, namespace, field))
		case format == formatSingle && name == namespace:
			problems = append(problems, fmt.Sprintf("invalid value %q: must be different from %q (field %q: the operator cannot watch the namespace that it is installed in)", name, namespace, field))
		}
	}
	check(object[watchNamespace], watchNamespace, root.Properties[watchNamespace].Format)
	list, _ := many.([]any)
	if s, ok := root.Properties[watchNamespaces]; ok && len(list) <= maxNamespaces {
		for i, name := range list {
			field := fmt.Sprintf("%s[%d]", watchNamespaces, i)
			if text, ok := name.(string); ok && slices.Contains(list[:i], name) {
				problems = append(problems, fmt.Sprintf("invalid value %q: is in the list already (field %q)", safetext.Truncate(text, maxQuoted), field))
			}
			check(name, field, s.Items.Schema.Format)
		}
	}
	return problems
}
