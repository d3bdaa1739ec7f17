package providedapi

import (
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
)

// access is a level of access to an API.
type access struct {
	suffix string
	verbs  []string
}

var levels = []access{
	{"admin", []string{"*"}},
	{"edit", []string{"create", "update", "patch", "delete"}},
	{"view", []string{"get", "list", "watch"}},
}

// view is the level that may read the definition of a custom resource.
const view = "view"

// api is one that an operator owns.
type api struct {
	gvk    catalog.GVK
	plural string
	// prefix is what the names of the roles begin with.
	prefix string
	// crd is the CustomResourceDefinition, empty for an aggregated API.
	crd string
	// group is the OperatorGroup of the operator.
	group string
	// owner is what the roles go with.
	owner metav1.OwnerReference
	// providers is what the role that lets the definition be read remembers, see memory.
	providers string
}

// roles are the ClusterRoles of an API.
func (a api) roles() []*rbacv1.ClusterRole {
	var out []*rbacv1.ClusterRole
	for _, level := range levels {
		rule := rbacv1.PolicyRule{Verbs: level.verbs, APIGroups: []string{a.gvk.Group}, Resources: []string{a.plural}}
		out = append(out, a.role(level.suffix, level.suffix, rule))
	}
	if a.crd != "" {
		rule := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{apiextensionsv1.GroupName}, Resources: []string{"customresourcedefinitions"}, ResourceNames: []string{a.crd}}
		reads := a.role("crd"+view, view, rule)
		if a.providers != "" {
			reads.Annotations = map[string]string{v1alpha1.ProvidersAnnotation: a.providers}
		}
		out = append(out, reads)
	}
	return out
}

func (a api) role(suffix, level string, rule rbacv1.PolicyRule) *rbacv1.ClusterRole {
	labels := map[string]string{
		v1alpha1.ManagedLabel:                       v1alpha1.ManagedLabelValue,
		v1alpha1.RBACAggregationLabelPrefix + level: "true",
		v1alpha1.OperatorGroupAggregationLabelPrefix + bundle.GVKHash(a.gvk) + "-" + level: "true",
	}
	if a.group != "" && len(validation.IsValidLabelValue(a.group)) == 0 {
		labels[v1alpha1.OperatorGroupAggregationLabelPrefix+level] = a.group
	}
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: a.prefix + "-" + suffix, Labels: labels, OwnerReferences: []metav1.OwnerReference{a.owner}},
		Rules:      []rbacv1.PolicyRule{rule},
	}
}

// elsewhere is the API with another prefix, for where an API of another group has taken the usual names: these do not
// tell aggregated APIs of two groups apart that have the same plural and version.
func (a api) elsewhere() api {
	a.prefix = fmt.Sprintf("%s.%s-%s", a.plural, a.gvk.Group, a.gvk.Version)
	return a
}
