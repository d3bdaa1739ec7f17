package registryv1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog/safetext"
)

const (
	// maxConfigBytes bounds a configuration. The API server takes objects of 3 MiB at most.
	maxConfigBytes = 1 << 20
	// maxConfigValues bounds the values of a configuration, which bounds the time to check it.
	maxConfigValues = 2000
)

// settings are what a configuration comes to.
type settings struct {
	// targets are the namespaces that the operator watches, sorted; "" alone means all.
	targets []string
	// deployment is merged into the Deployments; nil changes nothing.
	deployment *v1alpha1.SubscriptionConfig
}

// modesOf are the install modes that a bundle supports.
func modesOf(b *bundle.Bundle) (v1alpha1.InstallModeSet, error) {
	modes, err := v1alpha1.NewInstallModeSet(b.CSV.Spec.InstallModes)
	if err != nil {
		return nil, fmt.Errorf("read spec.installModes of ClusterServiceVersion %s: %w", b.Name, err)
	}
	return modes, nil
}

// readConfig judges a configuration and says what it means. Its error is a *ConfigError.
func readConfig(modes v1alpha1.InstallModeSet, namespace string, raw json.RawMessage) (*settings, error) {
	config, err := decodeConfig(raw)
	if err != nil {
		return nil, &ConfigError{Problems: []string{err.Error()}}
	}
	if object, ok := config.(map[string]any); ok {
		dropNulls(object, deploymentConfig)
	}
	if problems := checkConfig(configSchema(modes), hints(modes), namespace, config); len(problems) > 0 {
		return nil, &ConfigError{Problems: problems}
	}
	object := config.(map[string]any)
	out := &settings{targets: []string{metav1.NamespaceAll}}
	if name, ok := object[watchNamespace].(string); ok {
		out.targets = []string{name}
	} else if list, ok := object[watchNamespaces].([]any); ok {
		out.targets = nil
		for _, name := range list {
			out.targets = append(out.targets, name.(string))
		}
		slices.Sort(out.targets)
	}
	if deployment := object[deploymentConfig]; deployment != nil {
		out.deployment = &v1alpha1.SubscriptionConfig{}
		text, err := json.Marshal(deployment)
		if err == nil { // texts that have the form of a quantity and are none are found here
			err = kjson.UnmarshalCaseSensitivePreserveInts(text, out.deployment)
		}
		if err != nil {
			return nil, &ConfigError{Problems: []string{fmt.Sprintf("invalid value for field %q: %v", deploymentConfig, err)}}
		}
	}
	return out, nil
}

// decodeConfig reads the JSON of a configuration; none is an empty one.
func decodeConfig(raw json.RawMessage) (any, error) {
	if len(raw) > maxConfigBytes {
		return nil, fmt.Errorf("it has %d bytes, and %d are the most: make it smaller", len(raw), maxConfigBytes)
	}
	if text := strings.Trim(string(raw), " \t\r\n"); text == "" || text == "null" {
		return map[string]any{}, nil
	}
	var config any
	repeated, err := kjson.UnmarshalStrict(raw, &config)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if len(repeated) > 0 {
		return nil, fmt.Errorf("it cannot be understood: %s", safetext.Truncate(repeated[0].Error(), maxQuoted))
	}
	if countValues(config) > maxConfigValues {
		return nil, fmt.Errorf("it has more than %d values: make it smaller", maxConfigValues)
	}
	return config, nil
}

// countValues counts a value and all values within it.
func countValues(value any) int {
	count := 1
	switch value := value.(type) {
	case map[string]any:
		for _, inner := range value {
			count += countValues(inner)
		}
	case []any:
		for _, inner := range value {
			count += countValues(inner)
		}
	}
	return count
}

// dropNulls removes a field that is null, and all such fields within it: Kubernetes takes null for absence.
func dropNulls(object map[string]any, name string) {
	switch value := object[name].(type) {
	case nil:
		delete(object, name)
	case map[string]any:
		for inner := range value {
			dropNulls(value, inner)
		}
	case []any:
		for _, item := range value {
			wrapped := map[string]any{"": item}
			if item != nil {
				dropNulls(wrapped, "")
			}
		}
	}
}

// hints say what to use instead of the field that is not there for want of an install mode.
func hints(modes v1alpha1.InstallModeSet) map[string]string {
	one := modes[v1alpha1.InstallModeTypeOwnNamespace] || modes[v1alpha1.InstallModeTypeSingleNamespace]
	multi := modes[v1alpha1.InstallModeTypeMultiNamespace]
	const onlyAll = " (the operator can only watch all namespaces)"
	switch {
	case one && !multi:
		return map[string]string{watchNamespaces: " (the operator can watch one namespace, which is given as watchNamespace)"}
	case multi && !one:
		return map[string]string{watchNamespace: " (the operator takes a list of namespaces, which is given as watchNamespaces)"}
	case !one && !multi:
		return map[string]string{watchNamespace: onlyAll, watchNamespaces: onlyAll}
	}
	return nil
}
