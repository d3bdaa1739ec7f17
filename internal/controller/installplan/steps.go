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
	"fairlead.dev/fairlead/internal/rollout/claims"
	"fairlead.dev/fairlead/internal/tenancy"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
		// Return a copy, for the namespace of the plan, of a pull secret of one of its catalogs in the global namespace. Other Secrets
		// stay where they are: users of the namespace may be able to write the status of a plan, and to read its Secrets.
		name := s.step.Resource.Name
		if err := x.checkPullSecret(ctx, name); err != nil {
			return nil, err
		}
		source := &corev1.Secret{}
		if err := x.Live.Get(ctx, client.ObjectKey{Namespace: x.secrets, Name: name}, source); err != nil {
			return nil, fmt.Errorf("copy pull secret %s/%s: %w", x.secrets, name, err)
		}
		if source.Type != corev1.SecretTypeDockerConfigJson && source.Type != corev1.SecretTypeDockercfg {
			return nil, fmt.Errorf("%w: secret %s/%s is of type %s, and only pull secrets are copied", errInvalid, x.secrets, name, source.Type)
		}
		copied := &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: secretKind},
			ObjectMeta: metav1.ObjectMeta{Namespace: x.plan.Namespace, Name: name},
			Type:       source.Type,
			Data:       source.Data,
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(copied)
		if err != nil {
			return nil, fmt.Errorf("copy pull secret %s/%s: %w", x.secrets, name, err)
		}
		return &unstructured.Unstructured{Object: content}, nil
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
	own := labels.Set{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue}
	csv := x.incoming[s.step.Resolving]
	isComponent := csv != nil && !slices.Contains([]string{v1alpha1.SubscriptionKind, serviceAccountKind, secretKind}, s.step.Resource.Kind)
	if isComponent && bundle.PackageOf(csv) != "" {
		// The label by which the object is found among the components of its Operator. Setting it later would be a second write, and one that is
		// costly where it makes the API server read a CustomResourceDefinition again. Subscriptions are components of Operators of their own,
		// and what several operators may share is labelled when it belongs to one.
		own[v1alpha1.ComponentLabel(bundle.PackageOf(csv)+"."+x.plan.Namespace)] = ""
	}
	u.SetLabels(labels.Merge(u.GetLabels(), own))
	// Whether an operator does without an object if the cluster does not know its kind. One that the plan brings itself is waited for.
	group := u.GroupVersionKind().Group
	brought := slices.ContainsFunc(x.plan.Status.Plan, func(s *v1alpha1.Step) bool {
		return s.Resource.Kind == crdKind && strings.HasSuffix(s.Resource.Name, "."+group)
	})
	s.spared = slices.Contains(integrations, group) && !brought
	owner := v1alpha1.ClusterServiceVersionKind + " " + s.step.Resolving // on whose behalf the step writes
	if s.step.Resolving == "" {
		owner = v1alpha1.InstallPlanKind + " " + x.plan.Name
	}
	o := rollout.Object{Wanted: u, Policy: s.rule.policy, Owner: owner, Optional: s.step.Optional || s.spared}
	switch s.step.Resource.Kind {
	case crdKind:
		u.SetNamespace("")
		o.Adjust, o.Leave, o.Probe, o.Look = x.replaced.adjustCRD(ctx, s), x.replaced.leaves, rollout.Established, x.lookAtCRD(u.GetName())
		return o
	case v1alpha1.ClusterServiceVersionKind:
		// Give it what the controller of ClusterServiceVersions gives each of them before anything else, and looks after from then on: its
		// finalizer, the labels of its APIs, and the annotations of its OperatorGroup. A write of the largest object of an operator is saved.
		if csv := x.incoming[u.GetName()]; csv != nil {
			bundle.MarkOperator(u, csv)
			if x.group != nil && len(x.group.Status.Namespaces) > 0 {
				u.SetAnnotations(labels.Merge(u.GetAnnotations(), tenancy.MemberAnnotations(x.group)))
			}
		}
	case v1alpha1.SubscriptionKind:
		u.SetAnnotations(labels.Merge(u.GetAnnotations(), labels.Set{v1alpha1.GeneratedByAnnotation: x.plan.Name}))
	case serviceAccountKind:
		o.Adjust = shareAccount
	}
	u.SetNamespace(x.plan.Namespace)
	if s.rule.policy == rollout.CreateOnly {
		// The copy of an operator of another namespace gives its place to an operator that is installed in this one.
		o.Displaces = func(live *unstructured.Unstructured) bool {
			return live.GetKind() == v1alpha1.ClusterServiceVersionKind && v1alpha1.IsCopied(live)
		}
		return o
	}
	if s.step.Resource.Kind != serviceAccountKind {
		o.Claim = func(live *unstructured.Unstructured) (refused string) {
			refused, s.taken = x.Judge(ctx, s.step.Resolving, live)
			return refused
		}
	}
	o.Predecessors = claims.Predecessors
	if s.rule.wave == belongings {
		u.SetOwnerReferences(nil)
		if s.step.Resolving != "" {
			csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: s.step.Resolving}}
			u.SetOwnerReferences([]metav1.OwnerReference{bundle.OwnerReference(csv)})
		}
		return o
	}
	u.SetNamespace("")
	u.SetOwnerReferences(nil)
	if s.step.Resolving == "" {
		return o
	}
	u.SetLabels(labels.Merge(u.GetLabels(), labels.Set{
		v1alpha1.OwnerLabel:          s.step.Resolving,
		v1alpha1.OwnerNamespaceLabel: x.plan.Namespace,
		v1alpha1.OwnerKindLabel:      v1alpha1.ClusterServiceVersionKind,
	}))
	return o
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

// integrations are the API groups of software that an operator works with where it is present. The objects of a bundle for it are left
// out where it is not.
var integrations = []string{"monitoring.coreos.com", "console.openshift.io"}
