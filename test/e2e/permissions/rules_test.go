package permissions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/test/must"
)

// bundle is what an operator is made of, as far as rights matter. NAMESPACE is replaced.
const bundle = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: manager, namespace: NAMESPACE}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: manager, namespace: NAMESPACE}
rules:
- {apiGroups: [""], resources: [pods, pods/log], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAMESPACE-manager}
rules:
- {apiGroups: [apps], resources: [deployments/scale], verbs: [get]}
- {nonResourceURLs: [/metrics], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: manager, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: NAMESPACE}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAMESPACE-manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAMESPACE-manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: NAMESPACE}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: NAMESPACE}
spec:
  replicas: 0
  selector: {matchLabels: {app: manager}}
  template:
    metadata: {labels: {app: manager}}
    spec: {containers: [{name: manager, image: example.com/manager}]}
`

// TestMissingRulesAreWhatTheServerAsksFor: an account with exactly the rules that are told can write everything; without any single one of
// them it is refused something.
func TestMissingRulesAreWhatTheServerAsksFor(t *testing.T) {
	w := newWorld(t)
	namespace := devcluster.Namespace(t)
	objects := read(t, []byte(strings.ReplaceAll(bundle, "NAMESPACE", namespace)))
	subject := permissions.ServiceAccount(namespace, "installer")
	source := must.Value(permissions.Read(t.Context(), w, w.RESTMapper(), objects))(t)
	missing, err := permissions.Missing(subject, source, objects)
	if err != nil || len(missing) < 8 {
		t.Fatalf("missing = %v, %v", missing, err)
	}
	name := namespace + "-installer"
	manifests := must.Value(permissions.Manifests(name, subject, missing))(t)
	w.create(read(t, manifests)...)
	account := w.as(subject.User, subject.Groups...)
	for _, rule := range missing {
		w.awaitRule(subject, rule, true)
	}
	if source, err = permissions.Read(t.Context(), w, w.RESTMapper(), objects); err != nil {
		t.Fatal(err)
	}
	if rest, err := permissions.Missing(subject, source, objects); err != nil || len(rest) > 0 {
		t.Errorf("with the manifests applied %v is missing, %v", rest, err)
	}
	if err := w.installAndRemove(account, objects); err != nil {
		t.Errorf("with all rules: %v", err)
	}
	for i, rule := range missing {
		w.without(name, missing, i)
		w.awaitRule(subject, rule, false)
		if err := w.installAndRemove(account, objects); !apierrors.IsForbidden(err) {
			t.Errorf("without %s nothing is refused, %v", rule, err)
		}
		w.without(name, missing, -1)
		w.awaitRule(subject, rule, true)
	}
}

// without leaves one rule out of the role that holds it.
func (w *world) without(name string, missing []permissions.MissingRule, left int) {
	w.t.Helper()
	byNamespace := map[string][]rbacv1.PolicyRule{}
	for i, rule := range missing {
		if i != left {
			byNamespace[rule.Namespace] = append(byNamespace[rule.Namespace], rule.PolicyRule)
		}
	}
	for namespace, rules := range byNamespace {
		var role client.Object = &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
		if namespace != "" {
			role = &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Rules: rules}
		}
		must.NoError(w.t, w.Update(w.t.Context(), role))
	}
}

// awaitRule waits until the authorizer of the API server has seen that an account has a rule, or has it no longer.
func (w *world) awaitRule(subject permissions.Subject, rule permissions.MissingRule, allowed bool) {
	w.t.Helper()
	for _, verb := range rule.Verbs {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: subject.User, Groups: subject.Groups}}
		if len(rule.NonResourceURLs) > 0 {
			review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: rule.NonResourceURLs[0], Verb: verb}
		} else {
			resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
			review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Namespace: rule.Namespace, Verb: verb, Group: rule.APIGroups[0], Resource: resource, Subresource: subresource}
			if len(rule.ResourceNames) > 0 {
				review.Spec.ResourceAttributes.Name = rule.ResourceNames[0]
			}
		}
		must.Eventually(w.t, fmt.Sprintf("%s to be allowed: %t", rule, allowed), func() error {
			asked := review.DeepCopy()
			if err := w.Create(w.t.Context(), asked); err != nil {
				return err
			}
			if asked.Status.Allowed != allowed {
				return fmt.Errorf("the verb %s is allowed: %t", verb, asked.Status.Allowed)
			}
			return nil
		})
	}
}

// installAndRemove does with the objects what is done with those of a revision, and leaves nothing.
func (w *world) installAndRemove(account client.Client, objects []*unstructured.Unstructured) (err error) {
	defer func() {
		for _, object := range objects {
			if failed := w.Delete(context.Background(), object.DeepCopy()); client.IgnoreNotFound(failed) != nil {
				w.t.Error(failed)
			}
		}
	}()
	for _, object := range objects {
		if err := account.Create(w.t.Context(), object.DeepCopy()); err != nil {
			return err
		}
	}
	for _, object := range objects {
		live := object.DeepCopy()
		if err := account.Get(w.t.Context(), client.ObjectKeyFromObject(object), live); err != nil {
			return err
		}
		live.SetLabels(map[string]string{"changed": "true"})
		if err := account.Update(w.t.Context(), live); err != nil {
			return err
		}
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"patched":"true"}}}`))
		if err := account.Patch(w.t.Context(), live, patch); err != nil {
			return err
		}
	}
	for _, object := range slices.Backward(objects) {
		if err := account.Delete(w.t.Context(), object.DeepCopy()); err != nil {
			return err
		}
	}
	return nil
}
