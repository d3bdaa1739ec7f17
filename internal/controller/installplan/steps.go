package installplan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	crdKind            = "CustomResourceDefinition"
	secretKind         = "Secret"
	serviceAccountKind = "ServiceAccount"
)

// wave says when in a pass a step is done. Every wave is complete before the next one begins.
type wave int

const (
	definitions wave = iota // CRDs: a ClusterServiceVersion whose APIs are refused must not come into being
	operatorsUp             // ClusterServiceVersions, and what has no owner reference to one
	belongings              // what has, because that needs the UID
	waves
)

// rule is how steps of a kind are done.
type rule struct {
	wave   wave
	policy rollout.Policy
	kind   string // of the object, where it is not that of the step
}

// ruleOf returns the rule for a kind of step, and whether the kind is supported.
func ruleOf(kind string) (rule, bool) {
	switch kind {
	case crdKind:
		return rule{wave: definitions, kind: kind}, true
	case v1alpha1.ClusterServiceVersionKind, v1alpha1.SubscriptionKind, secretKind:
		return rule{wave: operatorsUp, policy: rollout.CreateOnly, kind: kind}, true
	case bundle.BundleSecretStepKind:
		return rule{wave: belongings, kind: secretKind}, true
	}
	if bundle.Namespaced(kind) {
		return rule{wave: belongings, kind: kind}, true
	}
	return rule{wave: operatorsUp, kind: kind}, slices.Contains(bundle.SupportedKinds(), kind)
}

// stepWriter makes objects, with the rules for them, of the steps of a plan.
type stepWriter struct {
	*pass
	replaced *replacements
	secrets  string // the namespace of pull secrets
}

// objectOf returns the object of a step as its manifest describes it.
func (x *stepWriter) objectOf(ctx context.Context, s *stepRun) (*unstructured.Unstructured, error) {
	if s.step.Resource.Kind == secretKind {
		return x.pullSecret(ctx, s.step.Resource.Name)
	}
	text, err := x.manifests.resolve(ctx, s.step)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, object); err != nil {
		return nil, fmt.Errorf("%w: the manifest of %s %s cannot be read: %w", errInvalid, s.step.Resource.Kind, s.step.Resource.Name, err)
	}
	// What was approved is the list of kinds and names; the manifests must be those of that list. Who writes a plan by hand writes both, and may
	// list a kind under a group or version that it had before: there the manifest decides, as it always has.
	r := s.step.Resource
	listed := schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: s.rule.kind}
	gvk := object.GroupVersionKind()
	same := gvk == listed || gvk.Kind == listed.Kind && x.plan.IsHandWritten()
	if !same || object.GetName() != r.Name {
		return nil, fmt.Errorf("%w: the step lists %s %s, but its manifest is %s %s", errInvalid, listed, r.Name, gvk, object.GetName())
	}
	return object, nil
}

// wanted returns the object of a step with the rules for it.
func (x *stepWriter) wanted(ctx context.Context, s *stepRun) rollout.Object {
	u := s.object
	bundle.DropAggregation(u)
	addLabels(u, map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue})
	if key := x.component(s); key != "" {
		addLabels(u, map[string]string{key: ""})
	}
	s.spared = x.mayBeMissing(u)
	o := rollout.Object{
		Wanted: u, Policy: s.rule.policy, Owner: x.ownerOf(s.step),
		Optional: s.step.Optional || s.spared,
	}
	switch s.step.Resource.Kind {
	case crdKind:
		u.SetNamespace("")
		o.Adjust, o.Leave, o.Probe, o.Look = x.replaced.adjustCRD(ctx, s), x.replaced.leaves, rollout.Established, x.lookAtCRD(u.GetName())
		return o
	case v1alpha1.ClusterServiceVersionKind:
		x.mark(u)
	case v1alpha1.SubscriptionKind:
		u.SetAnnotations(withEntry(u.GetAnnotations(), v1alpha1.GeneratedByAnnotation, x.plan.Name))
	case serviceAccountKind:
		o.Adjust = shareAccount
	}
	u.SetNamespace(x.plan.Namespace)
	if s.rule.policy == rollout.CreateOnly {
		o.Displaces = isCopiedOperator
		return o
	}
	if s.step.Resource.Kind != serviceAccountKind {
		o.Claim = x.claim(ctx, s)
	}
	o.Predecessors = predecessors
	if s.rule.wave == belongings {
		u.SetOwnerReferences(nil)
		if s.step.Resolving != "" {
			u.SetOwnerReferences([]metav1.OwnerReference{ownerReference(s.step.Resolving)})
		}
		return o
	}
	u.SetNamespace("")
	u.SetOwnerReferences(nil)
	if s.step.Resolving == "" {
		return o
	}
	addLabels(u, map[string]string{
		v1alpha1.OwnerLabel:          s.step.Resolving,
		v1alpha1.OwnerNamespaceLabel: x.plan.Namespace,
		v1alpha1.OwnerKindLabel:      v1alpha1.ClusterServiceVersionKind,
	})
	return o
}

// ownerOf names on whose behalf a step writes: the operator that it is of, or the plan, where its writer names none.
func (x *stepWriter) ownerOf(step *v1alpha1.Step) string {
	if step.Resolving == "" {
		return v1alpha1.InstallPlanKind + " " + x.plan.Name
	}
	return v1alpha1.ClusterServiceVersionKind + " " + step.Resolving
}

// component is the label by which an object is found among the components of its Operator; "" where it has none. Setting it later would be
// a second write, and one that is costly where it makes the API server read a CustomResourceDefinition again. Subscriptions are components
// of Operators of their own, and what several operators may share is labelled when it belongs to one.
func (x *stepWriter) component(s *stepRun) string {
	switch s.step.Resource.Kind {
	case v1alpha1.SubscriptionKind, serviceAccountKind, secretKind:
		return ""
	}
	csv := x.incoming[s.step.Resolving]
	if csv == nil {
		return ""
	}
	if name := bundle.PackageOf(csv); name != "" {
		return v1alpha1.ComponentLabel(name + "." + x.plan.Namespace)
	}
	return ""
}

// shareAccount is the Adjust of a ServiceAccount, which several operators may use. One that a user made is used as well, but stays the
// user's: an owner reference, as its only one, would have it removed with the operator, and the label would say that it may be owned.
func shareAccount(wanted, live *unstructured.Unstructured) error {
	if live != nil && len(live.GetOwnerReferences()) == 0 && live.GetLabels()[v1alpha1.ManagedLabel] != v1alpha1.ManagedLabelValue {
		wanted.SetOwnerReferences(nil)
		labels := wanted.GetLabels()
		delete(labels, v1alpha1.ManagedLabel)
		wanted.SetLabels(labels)
	}
	return rollout.Share(wanted, live)
}

// isCopiedOperator says whether an object is the copy of an operator of another namespace, whose place an operator takes that is
// installed in this one.
func isCopiedOperator(live *unstructured.Unstructured) bool {
	return live.GetKind() == v1alpha1.ClusterServiceVersionKind && v1alpha1.IsCopied(live)
}

// ownerReference is to a ClusterServiceVersion; the engine knows its UID.
func ownerReference(name string) metav1.OwnerReference {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return bundle.OwnerReference(csv)
}

// integrations are the API groups of software that an operator works with where it is present. The objects of a bundle for it are left
// out where it is not.
var integrations = []string{"monitoring.coreos.com", "console.openshift.io"}

// mayBeMissing tells whether an operator does without an object if the cluster does not know its kind. One that the plan brings
// itself is waited for.
func (x *stepWriter) mayBeMissing(u *unstructured.Unstructured) bool {
	group := u.GroupVersionKind().Group
	brought := hasStep(x.plan, func(s *v1alpha1.Step) bool {
		return s.Resource.Kind == crdKind && strings.HasSuffix(s.Resource.Name, "."+group)
	})
	return slices.Contains(integrations, group) && !brought
}

func addLabels(u *unstructured.Unstructured, more map[string]string) {
	labels := u.GetLabels()
	for key, value := range more {
		labels = withEntry(labels, key, value)
	}
	u.SetLabels(labels)
}

func withEntry(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
