package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/rollout/permissions"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rights examines what the service accounts of managers may do, and what the user may.
func (e *examiner) rights(ctx context.Context, c *Check) {
	for i := range e.managers {
		e.rightsOf(ctx, c, &e.managers[i])
	}
	switch {
	case len(e.managers) > 0:
	case e.foreign:
		c.Summary = "those of the other lifecycle manager are not examined"
	case !e.known:
		c.forbid("the Deployment of the manager, and its rights")
	default:
		c.Summary = "a manager outside of the cluster has those of its kubeconfig"
	}
	e.userRights(ctx, c)
}

// rightsOf compares the rights of a manager with those that the manifests give.
func (e *examiner) rightsOf(ctx context.Context, c *Check, d *appsv1.Deployment) {
	if only := argument(d, "namespaces"); only != "" {
		c.note("Deployment %s works on namespaces %s alone: which rights it needs there depends on what is installed, and was not examined", client.ObjectKeyFromObject(d), only)
		return
	}
	namespace, name := accountOf(d)
	apis := argument(d, "apis")
	needs, err := permissions.ManagerNeeds(namespace, apis == "" || slices.Contains(strings.Split(apis, ","), "v1"))
	if err != nil {
		c.read("rights of the manager", err)
		return
	}
	needs = slices.DeleteFunc(needs, func(n permissions.Need) bool { return !e.serves(n) })
	source, err := permissions.Read(ctx, e.Client, e.Client.RESTMapper(), nil, needs...)
	if !c.read("roles and their bindings", err) {
		return
	}
	subject := permissions.ServiceAccount(namespace, name)
	missing, err := permissions.Missing(subject, source, nil, needs...)
	if err != nil {
		c.note("the rights of ServiceAccount %s/%s could not be judged: %v", namespace, name, err)
	}
	remedy := "apply the roles of the manager again: kubectl apply --server-side -f config/rbac.yaml, or helm upgrade (docs/installing.md)"
	for _, rule := range missing {
		if allowed, err := e.allowed(ctx, subject, rule); err == nil && allowed { // by another authorizer than RBAC
			continue
		}
		c.fail(fmt.Sprintf("ServiceAccount %s/%s", namespace, name), remedy, "the manager may not %s %s%s", strings.Join(rule.Verbs, ", "), resources(rule), within(rule.Namespace))
	}
	c.Summary = "ServiceAccount " + namespace + "/" + name + " has what the manager needs"
}

// serves reports whether the cluster has the resource of a request. What cannot be found out counts as served.
func (e *examiner) serves(n permissions.Need) bool {
	if n.Group == "*" || n.Resource == "*" {
		return true
	}
	resource, _, _ := strings.Cut(n.Resource, "/")
	_, err := e.Client.RESTMapper().ResourceFor(schema.GroupVersionResource{Group: n.Group, Resource: resource})
	return !meta.IsNoMatchError(err)
}

// allowed asks the API server whether a subject may do what a rule says. An error is that the user may not ask.
func (e *examiner) allowed(ctx context.Context, subject permissions.Subject, rule permissions.MissingRule) (bool, error) {
	for _, verb := range rule.Verbs {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				resource, sub, _ := strings.Cut(resource, "/")
				review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: subject.User, Groups: subject.Groups,
					ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: rule.Namespace, Verb: verb, Group: group, Resource: resource, Subresource: sub}}}
				if err := e.Client.Create(ctx, review); err != nil || !review.Status.Allowed {
					return false, err
				}
			}
		}
	}
	return true, nil
}

// resources are those of a rule as kubectl writes them.
func resources(rule permissions.MissingRule) string {
	var all []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			if group != "" {
				resource += "." + group
			}
			all = append(all, resource)
		}
	}
	return strings.Join(all, ", ")
}

func within(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// userAsks are what commands do most, in all namespaces.
var userAsks = []authorizationv1.ResourceAttributes{
	{Verb: "list", Group: "operators.coreos.com", Resource: "subscriptions"},
	{Verb: "create", Group: "operators.coreos.com", Resource: "subscriptions"},
	{Verb: "list", Group: "operators.coreos.com", Resource: "catalogsources"},
	{Verb: "list", Group: "operators.coreos.com", Resource: "clusterserviceversions"},
	{Verb: "list", Group: "olm.operatorframework.io", Resource: "clusterextensions"},
	{Verb: "create", Group: "olm.operatorframework.io", Resource: "clusterextensions"},
	{Verb: "list", Group: "olm.operatorframework.io", Resource: "clustercatalogs"},
}

// userRights notes what the user may not do. That is no fault of the cluster.
func (e *examiner) userRights(ctx context.Context, c *Check) {
	var lacks []string
	for _, ask := range userAsks {
		if !e.serves(permissions.Need{Group: ask.Group, Resource: ask.Resource}) {
			continue
		}
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &ask}}
		if !c.read("your own rights", e.Client.Create(ctx, review)) {
			return
		}
		if !review.Status.Allowed {
			lacks = append(lacks, ask.Verb+" "+ask.Resource+"."+ask.Group)
		}
	}
	if len(lacks) > 0 {
		c.note("you may not, in all namespaces: %s; commands with -n need these rights in that namespace alone", strings.Join(lacks, ", "))
	}
}
