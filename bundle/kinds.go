package bundle

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

const (
	crdKind    = "CustomResourceDefinition"
	secretKind = "Secret"
)

// supportedKinds are the kinds that a bundle may hold, whatever their group, and whether they live in a namespace.
var supportedKinds = map[string]bool{
	v1alpha1.ClusterServiceVersionKind: true,
	crdKind:                            false,
	"ClusterRole":                      false,
	"ClusterRoleBinding":               false,
	"ConfigMap":                        true,
	"ConsoleCLIDownload":               false,
	"ConsoleLink":                      false,
	"ConsolePlugin":                    false,
	"ConsoleQuickStart":                false,
	"ConsoleYAMLSample":                false,
	"NetworkPolicy":                    true,
	"PodDisruptionBudget":              true,
	"PodMonitor":                       true,
	"PriorityClass":                    false,
	"PrometheusRule":                   true,
	"Role":                             true,
	"RoleBinding":                      true,
	secretKind:                         true,
	"Service":                          true,
	"ServiceAccount":                   true,
	"ServiceMonitor":                   true,
	"VerticalPodAutoscaler":            true,
}

// SupportedKinds are the kinds that a bundle may hold, sorted.
func SupportedKinds() []string {
	kinds := make([]string, 0, len(supportedKinds))
	for kind := range supportedKinds {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// Namespaced says whether objects of a supported kind live in a namespace.
func Namespaced(kind string) bool { return supportedKinds[kind] }

func checkKind(kind string) error {
	if _, ok := supportedKinds[kind]; !ok {
		return markf(ErrUnsupportedKind, "kind %s is not supported in bundles; supported are %s", kind, strings.Join(SupportedKinds(), ", "))
	}
	return nil
}
