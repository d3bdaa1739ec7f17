package revision

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
)

// Limits of the API.
const (
	maxPhases  = 20
	maxObjects = 50 // of a phase
)

// defaultPhase is for objects of kinds that the table does not name.
const defaultPhase = "deploy"

// phaseNames are the phases in the order in which they are applied.
var phaseNames = []string{
	"namespaces", "policies", "identity", "configuration", "storage", "crds", "roles", "bindings", "infrastructure", defaultPhase,
	"scaling", "publish", "admission",
}

// phaseOf says which kinds belong to which phase.
var phaseOf = map[schema.GroupKind]string{
	{Kind: "Namespace"}: "namespaces",

	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:        "policies",
	{Group: "policy", Kind: "PodDisruptionBudget"}:             "policies",
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:        "policies",
	{Kind: "ServiceAccount"}:                                   "identity",
	{Kind: "Secret"}:                                           "configuration",
	{Kind: "ConfigMap"}:                                        "configuration",
	{Kind: "PersistentVolume"}:                                 "storage",
	{Kind: "PersistentVolumeClaim"}:                            "storage",
	{Group: "storage.k8s.io", Kind: "StorageClass"}:            "storage",
	{Group: apiextensions, Kind: crdKind}:                      "crds",
	{Group: rbac, Kind: "ClusterRole"}:                         "roles",
	{Group: rbac, Kind: "Role"}:                                "roles",
	{Group: rbac, Kind: "ClusterRoleBinding"}:                  "bindings",
	{Group: rbac, Kind: "RoleBinding"}:                         "bindings",
	{Kind: "Service"}:                                          "infrastructure",
	{Group: certManager, Kind: "Issuer"}:                       "infrastructure",
	{Group: certManager, Kind: "Certificate"}:                  "infrastructure",
	{Group: "apps", Kind: "Deployment"}:                        "deploy",
	{Group: "autoscaling.k8s.io", Kind: autoscaler}:            "scaling",
	{Group: monitoring, Kind: "PrometheusRule"}:                "publish",
	{Group: monitoring, Kind: "ServiceMonitor"}:                "publish",
	{Group: monitoring, Kind: "PodMonitor"}:                    "publish",
	{Group: "networking.k8s.io", Kind: "Ingress"}:              "publish",
	{Group: "route.openshift.io", Kind: "Route"}:               "publish",
	{Group: console, Kind: "ConsoleYAMLSample"}:                "publish",
	{Group: console, Kind: "ConsoleQuickStart"}:                "publish",
	{Group: console, Kind: "ConsoleCLIDownload"}:               "publish",
	{Group: console, Kind: "ConsoleLink"}:                      "publish",
	{Group: console, Kind: "ConsolePlugin"}:                    "publish",
	{Group: console, Kind: "ConsoleExternalLogLink"}:           "publish",
	{Group: console, Kind: "ConsoleNotification"}:              "publish",
	{Group: admission, Kind: "ValidatingWebhookConfiguration"}: "admission",
	{Group: admission, Kind: "MutatingWebhookConfiguration"}:   "admission",
}

const (
	apiextensions = "apiextensions.k8s.io"
	crdKind       = "CustomResourceDefinition"
	rbac          = "rbac.authorization.k8s.io"
	certManager   = "cert-manager.io"
	autoscaler    = "VerticalPodAutoscaler"
	monitoring    = "monitoring.coreos.com"
	console       = "console.openshift.io"
	admission     = "admissionregistration.k8s.io"
)

// PhaseOf is the phase that objects of a kind belong to, and how many phases come before it.
func PhaseOf(kind schema.GroupKind) (name string, before int) {
	name, ok := phaseOf[kind]
	if !ok {
		name = defaultPhase
	}
	return name, slices.Index(phaseNames, name)
}

// group is the objects of a phase.
type group struct {
	name    string
	objects []*unstructured.Unstructured
}

// divide sorts objects into phases. What does not fit into a phase goes into further ones of the same rank: <phase>-2, <phase>-3 and so on.
func divide(objects []*unstructured.Unstructured) ([]group, error) {
	byPhase := map[string][]*unstructured.Unstructured{}
	for _, u := range objects {
		name, _ := PhaseOf(u.GroupVersionKind().GroupKind())
		byPhase[name] = append(byPhase[name], u)
	}
	var groups []group
	for _, name := range phaseNames {
		members := byPhase[name]
		slices.SortFunc(members, func(a, b *unstructured.Unstructured) int {
			left, right := a.GroupVersionKind(), b.GroupVersionKind()
			return cmp.Or(
				cmp.Compare(left.Group, right.Group), cmp.Compare(left.Version, right.Version), cmp.Compare(left.Kind, right.Kind),
				cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()),
			)
		})
		for i, chunk := range slices.Collect(slices.Chunk(members, maxObjects)) {
			rank := name
			if i > 0 {
				rank = fmt.Sprintf("%s-%d", name, i+1)
			}
			groups = append(groups, group{name: rank, objects: chunk})
		}
	}
	if len(groups) > maxPhases {
		return nil, fmt.Errorf("its %d objects make %d phases of up to %d objects, but a ClusterObjectSet has at most %d; make two bundles of it",
			len(objects), len(groups), maxObjects, maxPhases)
	}
	if len(objects) == 0 {
		return nil, errors.New("there are no objects; a bundle has to bring at least one")
	}
	return groups, nil
}

// SameRank reports whether phase i of a revision only continues the phase before it, so that neither waits for the other. It is so only in
// revisions that Build made: those who write phases by hand give the order by themselves.
func SameRank(set *olmv1.ClusterObjectSet, i int) bool {
	if i == 0 || set.Annotations[DigestKey] == "" {
		return false
	}
	ranks := [2]string{set.Spec.Phases[i-1].Name, set.Spec.Phases[i].Name}
	for j := range ranks {
		if name, _, numbered := strings.Cut(ranks[j], "-"); numbered && slices.Contains(phaseNames, name) {
			ranks[j] = name
		}
	}
	return ranks[0] == ranks[1]
}
