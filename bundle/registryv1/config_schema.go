package registryv1

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// Fields of a configuration.
const (
	watchNamespace   = "watchNamespace"
	watchNamespaces  = "watchNamespaces"
	deploymentConfig = "deploymentConfig"
)

// Formats of the names of namespaces, which only a reader who knows the namespace of the installation can check.
const (
	formatOwn    = "ownNamespaceInstallMode"
	formatSingle = "singleNamespaceInstallMode"
)

const (
	draft07          = "http://json-schema.org/draft-07/schema#"
	namespacePattern = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	maxNamespaceName = 63
	// maxNamespaces bounds a list of namespaces: every permission becomes a Role and a RoleBinding in each.
	maxNamespaces = 100
)

// ConfigSchema is the JSON schema (draft-07) of the configuration that a bundle takes, for clients that show or check it. Its formats
// ownNamespaceInstallMode and singleNamespaceInstallMode stand for the namespace of the installation and for any other one.
// Rendering takes a little more: null in deploymentConfig is the same as absence.
func ConfigSchema(b *bundle.Bundle) (json.RawMessage, error) {
	modes, err := modesOf(b)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(configSchema(modes))
	if err != nil {
		return nil, fmt.Errorf("write the configuration schema of bundle %s: %w", b.Name, err)
	}
	return text, nil
}

// configSchema is the schema for an operator with some install modes. Which of the namespaces can be given, and whether one has to
// be, follows from these alone.
func configSchema(modes v1alpha1.InstallModeSet) *schema {
	all, own := modes[v1alpha1.InstallModeTypeAllNamespaces], modes[v1alpha1.InstallModeTypeOwnNamespace]
	single, multi := modes[v1alpha1.InstallModeTypeSingleNamespace], modes[v1alpha1.InstallModeTypeMultiNamespace]
	root := deploymentSchema()
	root.Draft = draft07
	root.Title = "Configuration of an extension"
	var named []string
	if own || single {
		named = append(named, watchNamespace)
		root.Properties[watchNamespace] = orNull(all, oneNamespace(own, single))
	}
	if multi {
		named = append(named, watchNamespaces)
		root.Properties[watchNamespaces] = orNull(all, manyNamespaces(own))
	}
	switch {
	case len(named) == 2 && all:
		root.Not = &schema{Required: named}
	case len(named) == 2:
		root.OneOf = []*schema{{Required: named[:1]}, {Required: named[1:]}}
	case !all:
		root.Required = named
	}
	return root
}

func oneNamespace(own, single bool) *schema {
	s := namespaceName()
	s.Description = "The namespace that the operator watches."
	switch {
	case !single:
		s.Format = formatOwn
		s.Description += " It can only be the one that it is installed in."
	case !own:
		s.Format = formatSingle
		s.Description += " It cannot be the one that it is installed in."
	}
	return s
}

func manyNamespaces(own bool) *schema {
	s := &schema{
		Description: "The namespaces that the operator watches.",
		Type:        types{typeArray}, MinItems: ptr(1), MaxItems: ptr(maxNamespaces), UniqueItems: true,
		Items: namespaceName(),
	}
	if !own {
		s.Items.Format = formatSingle
		s.Description += " The one that it is installed in cannot be among them."
	}
	return s
}

func namespaceName() *schema {
	return &schema{Type: types{typeString}, MinLength: ptr(1), MaxLength: ptr(maxNamespaceName), Pattern: namespacePattern}
}

// orNull lets null stand for all namespaces, where the operator can watch them all.
func orNull(all bool, s *schema) *schema {
	if all {
		s.Type = append(types{typeNull}, s.Type...)
		s.Description += " All when it is absent or null."
	}
	return s
}

// deploymentSchemas is what does not depend on the bundle: the fields of a Subscription's configuration but its selector.
var deploymentSchemas = sync.OnceValue(func() *schema {
	g := &typeSchemas{definitions: map[string]*schema{}}
	g.of(reflect.TypeFor[v1alpha1.SubscriptionConfig]())
	const name = "SubscriptionConfig"
	config := g.definitions[name]
	delete(g.definitions, name)
	delete(config.Properties, "selector")
	config.Description = "Changes of the Deployments of the operator and of all their containers, init containers excepted."
	return &schema{
		Type: types{typeObject}, Values: closed,
		Properties:  map[string]*schema{deploymentConfig: config},
		Definitions: g.definitions,
	}
})

// deploymentSchema is a copy of deploymentSchemas to which properties can be added.
func deploymentSchema() *schema {
	out := *deploymentSchemas()
	out.Properties = map[string]*schema{deploymentConfig: out.Properties[deploymentConfig]}
	return &out
}
