package ops

import (
	"errors"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

const ns = "operators"

func objectMeta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }

func anOperatorGroup() *operatorsv1.OperatorGroup {
	return &operatorsv1.OperatorGroup{ObjectMeta: objectMeta("all"), Status: operatorsv1.OperatorGroupStatus{Namespaces: []string{""},
		Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Selected", Message: "the target namespaces are all namespaces"}}}}
}

func aSource(namespace, state, message string) *v1alpha1.CatalogSource {
	s := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cat"}, Spec: v1alpha1.CatalogSourceSpec{Image: "registry.example.com/cat:v1"}}
	s.Status.Message = message
	if state != "" {
		s.Status.GRPCConnectionState = &v1alpha1.GRPCConnectionState{LastObservedState: state}
	}
	return s
}

func aSubscription(state v1alpha1.SubscriptionState, installed, plan string, ready corev1.ConditionStatus, message string) *v1alpha1.Subscription {
	sub := &v1alpha1.Subscription{ObjectMeta: objectMeta("op"), Spec: &v1alpha1.SubscriptionSpec{Package: "op", Channel: "stable", CatalogSource: "cat", CatalogSourceNamespace: "olm"}}
	sub.Status.State, sub.Status.InstalledCSV = state, installed
	if plan != "" {
		sub.Status.InstallPlanRef = &corev1.ObjectReference{Name: plan}
	}
	if message != "" {
		sub.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: ready, Message: message}}
	}
	return sub
}

func aPlan(phase v1alpha1.InstallPlanPhase, message string) *v1alpha1.InstallPlan {
	owned := objectMeta("install-abcde")
	owned.OwnerReferences = []metav1.OwnerReference{{Kind: v1alpha1.SubscriptionKind, Name: "op"}}
	return &v1alpha1.InstallPlan{ObjectMeta: owned, Spec: v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{"op.v1"}},
		Status: v1alpha1.InstallPlanStatus{Phase: phase, Message: message, Plan: []*v1alpha1.Step{{Status: v1alpha1.StepStatusCreated}, nil, {Status: v1alpha1.StepStatusUnknown}}}}
}

// byHand makes a plan one that no Subscription made.
func byHand(p *v1alpha1.InstallPlan) *v1alpha1.InstallPlan {
	p.OwnerReferences = nil
	return p
}

// judged is a CatalogSource or an InstallPlan of which something is known about signatures.
func judged[T client.Object](o T, status metav1.ConditionStatus, message string) T {
	switch o := any(o).(type) {
	case *v1alpha1.CatalogSource:
		o.Status.Conditions = []metav1.Condition{{Type: v1alpha1.CatalogSourceSignatureVerified, Status: status, Message: message}}
	case *v1alpha1.InstallPlan:
		o.Status.BundleLookups = []v1alpha1.BundleLookup{{Identifier: "op.v1", Conditions: []v1alpha1.BundleLookupCondition{
			{Type: v1alpha1.BundleLookupSignatureVerified, Status: corev1.ConditionStatus(status), Message: message}}}, {Identifier: "op.v0"}}
	}
	return o
}

func aCSV(phase v1alpha1.ClusterServiceVersionPhase, reason v1alpha1.ConditionReason, message string, unmet ...string) *v1alpha1.ClusterServiceVersion {
	c := &v1alpha1.ClusterServiceVersion{ObjectMeta: objectMeta("op.v1")}
	c.Status.Phase, c.Status.Reason, c.Status.Message = phase, reason, message
	for _, name := range unmet {
		c.Status.RequirementStatus = append(c.Status.RequirementStatus, v1alpha1.RequirementStatus{Kind: "CustomResourceDefinition", Name: name, Status: v1alpha1.RequirementStatusReasonNotPresent, Message: "CRD is not present"})
	}
	return c
}

// copied is a copy that shows that an operator of another namespace watches this one.
func copied(c *v1alpha1.ClusterServiceVersion) *v1alpha1.ClusterServiceVersion {
	c.Annotations = map[string]string{v1alpha1.OperatorNamespaceAnnotation: "elsewhere"}
	return c
}

func aDeployment(available int32) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: objectMeta("op")}
	d.Labels = map[string]string{v1alpha1.OwnerLabel: "op.v1"}
	d.Status.AvailableReplicas = available
	if available == 0 {
		d.Status.Conditions = []appsv1.DeploymentCondition{{Type: "Available", Status: "False", Message: "Deployment does not have minimum availability."}}
	}
	return d
}

func unresolved() *v1alpha1.Subscription {
	sub := aSubscription(v1alpha1.SubscriptionStateAtLatest, "op.v1", "", "False", "there is no solution")
	sub.Status.Conditions[0].Reason = "ResolutionFailed"
	return sub
}

func TestTree(t *testing.T) {
	tests := map[string]struct {
		objects []client.Object
		done    bool
		want    string
	}{
		"nothing": {done: true, want: `
Namespace operators
└── no OperatorGroup, CatalogSource, Subscription, ClusterServiceVersion or ClusterExtension; fairlead list -A lists what all namespaces have
`},
		"all is well": {
			objects: []client.Object{anOperatorGroup(), aSource("olm", "READY", ""), aSubscription(v1alpha1.SubscriptionStateAtLatest, "op.v1", "install-abcde", "True", "runs"),
				aPlan(v1alpha1.InstallPlanPhaseComplete, ""), aCSV(v1alpha1.CSVPhaseSucceeded, "", ""), aDeployment(1)},
			done: true, want: `
Namespace operators
├── ✓ OperatorGroup all (all namespaces)
├── ✓ CatalogSource olm/cat (registry.example.com/cat:v1) READY
└── ✓ Subscription op (package op, channel stable of catalog olm/cat) AtLatestKnown
    ├── ✓ InstallPlan install-abcde (op.v1; 1 of 3 steps) Complete
    └── ✓ ClusterServiceVersion op.v1 Succeeded
        └── ✓ Deployment op 1/1 available
`},
		"who signed is said": {
			objects: []client.Object{anOperatorGroup(), judged(aSource("olm", "READY", ""), "True", "signed by key sha256:c"), aSubscription(v1alpha1.SubscriptionStateAtLatest, "op.v1", "install-abcde", "True", "runs"),
				judged(aPlan(v1alpha1.InstallPlanPhaseComplete, ""), "True", "named by catalog c, which is signed by key sha256:c"), aCSV(v1alpha1.CSVPhaseSucceeded, "", "")},
			done: true, want: `
Namespace operators
├── ✓ OperatorGroup all (all namespaces)
├── ✓ CatalogSource olm/cat (registry.example.com/cat:v1) READY
│       signed by key sha256:c
└── ✓ Subscription op (package op, channel stable of catalog olm/cat) AtLatestKnown
    ├── ✓ InstallPlan install-abcde (op.v1; 1 of 3 steps) Complete
    │       bundle op.v1 is named by catalog c, which is signed by key sha256:c
    └── ✓ ClusterServiceVersion op.v1 Succeeded
`},
		"what is refused is said once": {
			objects: []client.Object{anOperatorGroup(), judged(aSource("olm", "READY", ""), "False", "the newer content is refused by rule 1"), aSubscription(v1alpha1.SubscriptionStateAtLatest, "op.v1", "install-abcde", "False", "waits"),
				judged(aPlan(v1alpha1.InstallPlanPhaseInstalling, "retrying execution due to error: rule 1 refuses it"), "False", "rule 1 refuses it")},
			want: `
✗ Subscription op: retrying execution due to error: rule 1 refuses it

Namespace operators
├── ✓ OperatorGroup all (all namespaces)
├── ✓ CatalogSource olm/cat (registry.example.com/cat:v1) READY
│       the newer content is refused by rule 1
└── ✗ Subscription op (package op, channel stable of catalog olm/cat) AtLatestKnown
    └── ✗ InstallPlan install-abcde (op.v1; 1 of 3 steps) Installing
            retrying execution due to error: rule 1 refuses it
`},
		"the first cause is told once, where it is": {
			objects: []client.Object{anOperatorGroup(), aSource("olm", "READY", ""), aSubscription(v1alpha1.SubscriptionStateAtLatest, "op.v1", "", "False", "ClusterServiceVersion op.v1 is Pending: ..."),
				aCSV(v1alpha1.CSVPhasePending, v1alpha1.CSVReasonRequirementsNotMet, "one or more requirements couldn't be found: ...", "a", "b", "c", "d", "e", "f", "g"), aDeployment(0)},
			want: `
✗ Subscription op: CustomResourceDefinition a: NotPresent, CRD is not present

Namespace operators
├── ✓ OperatorGroup all (all namespaces)
├── ✓ CatalogSource olm/cat (registry.example.com/cat:v1) READY
└── ✗ Subscription op (package op, channel stable of catalog olm/cat) AtLatestKnown
    └── ✗ ClusterServiceVersion op.v1 Pending
        │   CustomResourceDefinition a: NotPresent, CRD is not present
        │   CustomResourceDefinition b: NotPresent, CRD is not present
        │   CustomResourceDefinition c: NotPresent, CRD is not present
        │   CustomResourceDefinition d: NotPresent, CRD is not present
        │   CustomResourceDefinition e: NotPresent, CRD is not present
        │   and 2 more requirements
        └── ✗ Deployment op 0/1 available
                Deployment does not have minimum availability.
`},
		"what only the Subscription knows is told beside what its operator says": {
			objects: []client.Object{anOperatorGroup(), aSource("olm", "READY", ""), unresolved(), aCSV(v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonInstallCheckFailed, "install timeout")},
			want: `
✗ Subscription op: there is no solution

Namespace operators
├── ✓ OperatorGroup all (all namespaces)
├── ✓ CatalogSource olm/cat (registry.example.com/cat:v1) READY
└── ✗ Subscription op (package op, channel stable of catalog olm/cat) AtLatestKnown
    │   there is no solution
    │   to see what to do: fairlead why op -n operators
    └── ✗ ClusterServiceVersion op.v1 Failed
            install timeout
`},
		"a plan that waits says how to approve it": {
			objects: []client.Object{anOperatorGroup(), aSource("olm", "READY", ""), aSubscription(v1alpha1.SubscriptionStateUpgradePending, "", "install-abcde", "False", "waits"), aPlan(v1alpha1.InstallPlanPhaseRequiresApproval, "")},
			want: `
✗ Subscription op: waits for approval: fairlead approve op -n operators

Namespace operators
├── ✓ OperatorGroup all (all namespaces)
├── ✓ CatalogSource olm/cat (registry.example.com/cat:v1) READY
└── ✗ Subscription op (package op, channel stable of catalog olm/cat) UpgradePending
    └── ✗ InstallPlan install-abcde (op.v1; 1 of 3 steps) RequiresApproval
            waits for approval: fairlead approve op -n operators
`},
		"a plan that people wrote says what is wrong with it": {
			objects: []client.Object{anOperatorGroup(), byHand(aPlan(v1alpha1.InstallPlanPhasePlanning, "no catalog has ClusterServiceVersion op.v1"))},
			want: `
✗ InstallPlan install-abcde: no catalog has ClusterServiceVersion op.v1

Namespace operators
├── ✓ OperatorGroup all (all namespaces)
└── ✗ InstallPlan install-abcde (op.v1; 1 of 3 steps) Planning
        no catalog has ClusterServiceVersion op.v1
`},
		"a copy is not shown as installed": {
			objects: []client.Object{anOperatorGroup(), aSource("olm", "READY", ""), aSubscription(v1alpha1.SubscriptionStateAtLatest, "op.v1", "", "False", "another operator provides its APIs"), copied(aCSV(v1alpha1.CSVPhaseSucceeded, v1alpha1.CSVReasonCopied, ""))},
			want: `
✗ Subscription op: another operator provides its APIs

Namespace operators
├── ✓ OperatorGroup all (all namespaces)
├── ✓ CatalogSource olm/cat (registry.example.com/cat:v1) READY
└── ✗ Subscription op (package op, channel stable of catalog olm/cat) AtLatestKnown
        another operator provides its APIs
`},
		"no OperatorGroup, a catalog that fails, and a manager that does not run": {
			objects: []client.Object{aSource("olm", "TRANSIENT_FAILURE", "connection refused"), aSource(ns, "", ""), aSubscription("", "", "", "", ""), aCSV(v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonNoOperatorGroup, "no group")},
			want: `
✗ OperatorGroup -: operators need exactly one OperatorGroup in their namespace: create one in operators
✗ CatalogSource operators/cat: its content is still being loaded
✗ CatalogSource olm/cat: connection refused
✗ Subscription op: not reconciled yet; is the manager running?
✗ ClusterServiceVersion op.v1: no group

Namespace operators
├── ✗ OperatorGroup - Missing
│       operators need exactly one OperatorGroup in their namespace: create one in operators
├── ✗ CatalogSource operators/cat (registry.example.com/cat:v1)
│       its content is still being loaded
├── ✗ CatalogSource olm/cat (registry.example.com/cat:v1) TRANSIENT_FAILURE
│       connection refused
├── ✗ Subscription op (package op, channel stable of catalog olm/cat)
│       not reconciled yet; is the manager running?
└── ✗ ClusterServiceVersion op.v1 Failed
        no group
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			must.NoError(t, errors.Join(v1alpha1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), appsv1.AddToScheme(scheme), olmv1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
			objects := append(test.objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
			report := must.Value(InspectNamespace(t.Context(), fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), ns))(t)
			var tree strings.Builder
			must.NoError(t, report.Write(&tree))
			must.Equal(t, "text", tree.String(), strings.TrimPrefix(test.want, "\n"))
			must.Equal(t, "done", report.Done(), test.done)
		})
	}
}

// TestOldPodsAreNotTheNewVersion: a Deployment whose pods of an earlier version are available is not done.
func TestOldPodsAreNotTheNewVersion(t *testing.T) {
	d := aDeployment(1)
	d.Status.Replicas, d.Status.UpdatedReplicas = 2, 1
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: "False", Message: "has timed out progressing"}}
	n := deployment(d)
	must.Equal(t, "done, state, reason", []any{n.Done, n.State, n.Reason}, []any{false, "1/1 available, 1 of an earlier version", "has timed out progressing"})
	d.Status.Replicas = 1
	must.Equal(t, "when they are gone", deployment(d).Done, true)
}
