package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operatorNow is the time of these tests.
var operatorNow = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// crashing is a pod of the Deployment kite, whose container ends again and again.
func crashing() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite-7d-abc", Labels: map[string]string{"app": "kite"}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: "False"}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "manager", RestartCount: 7,
				State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 5m0s restarting failed container"}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"}}}}}}
}

// failingOperator is an operator of the v0 API whose pod does not run, with a webhook and events.
func failingOperator(t *testing.T) []client.Object {
	t.Helper()
	objects := classic(func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Status.Phase, csv.Status.Reason, csv.Status.Message = v1alpha1.CSVPhaseFailed, "ComponentUnhealthy", "installing: waiting for deployment kite to become ready"
		csv.Status.Conditions = []v1alpha1.ClusterServiceVersionCondition{{Type: "Ready", Status: "False", Reason: "ComponentUnhealthy"}, {Phase: v1alpha1.CSVPhasePending}, {Phase: v1alpha1.CSVPhaseFailed}}
	})
	csv := objects[1].(*v1alpha1.ClusterServiceVersion)
	sub := objects[0].(*v1alpha1.Subscription)
	sub.Spec.Channel, sub.Spec.CatalogSource, sub.Spec.CatalogSourceNamespace = "stable", "cat", "olm"
	sub.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: "False", Reason: "ComponentUnhealthy", Message: "kite.v1 does not work", LastTransitionTime: &metav1.Time{Time: operatorNow}}}
	for _, o := range objects {
		if d, is := o.(*appsv1.Deployment); is && d.Name == "kite" {
			d.Labels = map[string]string{v1alpha1.OwnerLabel: "kite.v1"}
			d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kite"}}
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: "Available", Status: "False", Message: "Deployment does not have minimum availability."}}
		}
	}
	certificate := must.Value(serving.Issue(serving.Request{Hosts: []string{"kite-service.ops.svc"}, Now: operatorNow.Add(-24 * time.Hour), Life: 24*time.Hour - time.Minute}))(t)
	hooks := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "kite-hooks", Labels: bundle.OwnerLabels(csv)}, Webhooks: []admissionv1.ValidatingWebhook{{Name: "check.example.com",
		ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "ops", Name: "kite-service"}, CABundle: certificate.CABundle}}}}
	hooks.OwnerReferences = csvOwner()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite-cert", OwnerReferences: csvOwner()}, Data: map[string][]byte{corev1.TLSCertKey: certificate.Certificate, corev1.TLSPrivateKeyKey: certificate.Key}}
	crd := definition("kites.example.com", true)
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: "True"}}
	return append(objects, crashing(), hooks, secret, crd,
		anEvent("1", "Pod", "kite-7d-abc", "Warning", "BackOff", "Back-off restarting failed container, password=hunter22", operatorNow.Add(-time.Minute)),
		anEvent("2", "ReplicaSet", "kite-7d", "Normal", "SuccessfulCreate", "Created pod: kite-7d-abc", operatorNow.Add(-time.Hour)),
		anEvent("3", "Pod", "another", "Warning", "BackOff", "is not of it", operatorNow))
}

func csvOwner() []metav1.OwnerReference {
	return []metav1.OwnerReference{{UID: "csv", APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: "kite.v1"}}
}

func anEvent(name, kind, of, level, reason, message string, last time.Time) *corev1.Event {
	return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}, InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: "ops", Name: of}, Type: level, Reason: reason,
		Message: message, Count: 3, LastTimestamp: metav1.NewTime(last)}
}

// subscriptionKite is the key of the Subscription of classic.
var subscriptionKite = client.ObjectKey{Namespace: "ops", Name: "my-kite"}

// TestOperatorThatFails: its tree leads to the cause, with the last line of the log and what to do; nothing of a Secret but times is told.
func TestOperatorThatFails(t *testing.T) {
	c := removalCluster(t, failingOperator(t)...)
	var asked []string
	logs := func(_ context.Context, pod client.ObjectKey, container string, previous bool) (io.ReadCloser, error) {
		asked = append(asked, fmt.Sprint(pod, container, previous))
		return io.NopCloser(strings.NewReader("starting\npanic: cannot open database, token=abcdefgh123\n")), nil
	}
	o := must.Value(OperatorReader{Reader: c, Logs: logs, Now: operatorNow}.Operator(t.Context(), v1alpha1.SubscriptionKind, subscriptionKite))(t)
	must.Equal(t, "standing", o.Standing(), Fails)
	if o.Cause == nil {
		t.Fatal("no cause is named")
	}
	must.Equal(t, "cause", o.Cause.Kind+" "+o.Cause.Name+" "+o.Cause.State, "Pod kite-7d-abc CrashLoopBackOff")
	must.Contain(t, "why", o.Cause.Reason, "container manager waits: CrashLoopBackOff: back-off 5m0s", "its last run ended with exit code 2")
	must.Equal(t, "last line", o.Cause.LastLog, "panic: cannot open database, token=(redacted)")
	must.Contain(t, "advice", o.Advice, "kubectl logs -n ops kite-7d-abc --previous")
	must.Equal(t, "logs", asked, []string{"ops/kite-7d-abcmanagerfalse"})
	csv := o.Tree.Children[0]
	pod := csv.Children[0].Children[0]
	must.Equal(t, "the way there", []string{o.Tree.Kind, csv.Kind, csv.Children[0].Kind, pod.Kind, pod.Detail}, []string{"Subscription", "ClusterServiceVersion", "Deployment", "Pod", "restarted 7 times"})
	if len(o.Definitions) != 1 || !o.Definitions[0].Established || o.Definitions[0].Kind != "Kite" {
		t.Errorf("definitions: %+v", o.Definitions)
	}
	if len(o.Webhooks) != 1 || o.Webhooks[0].Service != "ops/kite-service" || o.Webhooks[0].Policy != "Fail" {
		t.Fatalf("webhooks: %+v", o.Webhooks)
	}
	must.Contain(t, "the certificate that has ended", o.Webhooks[0].Certificate.Problem, "has expired at 2026-11-28T11:59:00Z")
	must.Contain(t, "the authority, of the same age", o.Webhooks[0].Authority.Problem, "has expired")
	must.Equal(t, "roles", len(o.Roles), 1)
	var events []string
	for _, e := range o.Events {
		events = append(events, e.Kind+" "+e.Reason+" "+e.Message)
	}
	must.Equal(t, "events, the newest first", events, []string{"Pod BackOff Back-off restarting failed container, password=(redacted)", "ReplicaSet SuccessfulCreate Created pod: kite-7d-abc"})
	must.Equal(t, "notes", o.Notes, nil)
}

// TestOperatorConditions are told in plain words, with whether that is good.
func TestOperatorConditions(t *testing.T) {
	o := must.Value(OperatorReader{Reader: removalCluster(t, failingOperator(t)...), Now: operatorNow}.Operator(t.Context(), v1alpha1.SubscriptionKind, subscriptionKite))(t)
	var told []string
	for _, c := range o.Conditions {
		good := "-"
		if c.Good != nil {
			good = fmt.Sprint(*c.Good)
		}
		told = append(told, strings.Join([]string{c.Kind, c.Type, c.Status, c.Meaning, good}, "|"))
	}
	must.Equal(t, "conditions", told, []string{"Subscription|Ready|False|it is not yet as it is asked for|false", "ClusterServiceVersion|Ready|False|it is not yet as it is asked for|false",
		"ClusterServiceVersion|Phase|Failed|it could not be installed, or stopped working|false", "ClusterServiceVersion|Phase|Pending|it waits for what it requires|-"})
	must.Equal(t, "since", o.Conditions[0].Since.UTC(), operatorNow)
	for _, kind := range []string{"Stalled", "ResolutionFailed", "Deprecated"} {
		if c := explained(Condition{Type: kind, Status: "True"}); c.Good == nil || *c.Good || c.Meaning == "" {
			t.Errorf("%s: %+v", kind, c)
		}
		if c := explained(Condition{Type: kind, Status: "False"}); c.Good == nil || !*c.Good {
			t.Errorf("%s: %+v", kind, c)
		}
	}
	must.Equal(t, "goes on, well or not", explained(Condition{Type: "Progressing", Status: "True"}).Good, nil)
	must.Equal(t, "does not go on", *explained(Condition{Type: "Progressing", Status: "False"}).Good, false)
	must.Equal(t, "a type of others", explained(Condition{Type: "Frob", Status: "True"}), Condition{Type: "Frob", Status: "True"})
}

// TestTenantLooksAtAnOperator: what the user of a namespace may not read is noted, and the rest is shown; another tenant's operator is forbidden.
func TestTenantLooksAtAnOperator(t *testing.T) {
	c := fakeapi.Tenant(removalCluster(t, failingOperator(t)...), "ops")
	o := must.Value(OperatorReader{Reader: c, Now: operatorNow}.Operator(t.Context(), v1alpha1.SubscriptionKind, subscriptionKite))(t)
	must.Equal(t, "cause", o.Cause.Name, "kite-7d-abc")
	notes := strings.Join(o.Notes, "\n")
	must.Contain(t, "notes", notes, "CustomResourceDefinitions cannot be read as user dev: of those of the operator only the names are shown", "Roles, RoleBindings", "those of the operator are not shown")
	must.Equal(t, "the definition is named", o.Definitions[0].Name, "kites.example.com")
	_, err := OperatorReader{Reader: fakeapi.Tenant(removalCluster(t, failingOperator(t)...), "else"), Now: operatorNow}.Operator(t.Context(), v1alpha1.SubscriptionKind, subscriptionKite)
	if !apierrors.IsForbidden(err) {
		t.Errorf("another tenant's: %v", err)
	}
}

// TestOperatorOfAnExtension: its revisions and what they control; one that installs elsewhere is not at this address.
func TestOperatorOfAnExtension(t *testing.T) {
	e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "kite", UID: "ext", Annotations: map[string]string{HeldBeforeKey: "Mo 1h", HeldReasonKey: "INC-1"}}}
	e.Spec.Namespace = "ops"
	e.Spec.Source.Catalog = &olmv1.CatalogFilter{PackageName: "kite"}
	e.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeProgressing, Status: "True", Reason: olmv1.ReasonRetrying, Message: "no bundle of kite fits"}}
	set := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: "kite-1", UID: "set", Labels: map[string]string{olmv1.OwnerNameKey: "kite", olmv1.OwnerKindKey: olmv1.ClusterExtensionKind}}}
	set.Spec.Revision, set.Spec.LifecycleState = 1, olmv1.LifecycleStateActive
	owned(set, olmv1.ClusterExtensionKind, "kite", "ext")
	labels := map[string]string{olmv1.OwnerNameKey: "kite", olmv1.OwnerKindKey: olmv1.ClusterExtensionKind}
	role := owned(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "kite-role", Labels: labels}}, olmv1.ClusterObjectSetKind, "kite-1", "set")
	forged := owned(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "forged", Labels: labels}}, olmv1.ClusterObjectSetKind, "other-1", "another")
	crd := definition("kites.example.com", false)
	crd.Labels = labels
	owned(crd, olmv1.ClusterObjectSetKind, "kite-1", "set")
	c := removalCluster(t, e, set, role, forged, crd)
	key := client.ObjectKey{Namespace: "ops", Name: "kite"}
	o := must.Value(OperatorReader{Reader: c, Now: operatorNow}.Operator(t.Context(), olmv1.ClusterExtensionKind, key))(t)
	must.Equal(t, "roles that its revisions control", []string{o.Roles[0].Name, fmt.Sprint(len(o.Roles))}, []string{"kite-role", "1"})
	must.Equal(t, "definitions", len(o.Definitions), 1)
	must.Equal(t, "hold", o.Hold, &Holding{Reason: "INC-1", Before: "Mo 1h"})
	if !slices.ContainsFunc(o.Tree.Children, func(n Node) bool { return n.Name == "kite-1" }) {
		t.Errorf("its revision is missing: %+v", o.Tree)
	}
	key.Namespace = "else"
	_, err := OperatorReader{Reader: c, Now: operatorNow}.Operator(t.Context(), olmv1.ClusterExtensionKind, key)
	if !apierrors.IsNotFound(err) {
		t.Errorf("in another namespace: %v", err)
	}
	_, err = OperatorReader{Reader: c, Now: operatorNow}.Operator(t.Context(), "Secret", key)
	must.Fail(t, "a kind that is no operator", err, "an operator is known by a Subscription")
}

// TestWhyPodsDoNotWork: each state of a pod has its cause, and one that works has none.
func TestWhyPodsDoNotWork(t *testing.T) {
	status := func(s corev1.ContainerStatus) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: "False"}}, ContainerStatuses: []corev1.ContainerStatus{s}}
	}
	started := true
	for name, test := range map[string]struct {
		status        corev1.PodStatus
		state, reason string
		done          bool
	}{
		"works": {corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: "True"}}}, "Running", "", true},
		"no image": {status(corev1.ContainerStatus{Name: "a", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `Back-off pulling image "x"`}}}),
			"ImagePullBackOff", `container a waits: ImagePullBackOff: Back-off pulling image "x"`, false},
		"no memory": {status(corev1.ContainerStatus{Name: "a", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}}),
			"OOMKilled", "container a waits: CrashLoopBackOff; its last run ended with exit code 137 (OOMKilled)", false},
		"no place": {corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: "False", Reason: "Unschedulable", Message: "0/3 nodes are available"}}},
			"Unschedulable", "0/3 nodes are available", false},
		"not ready": {status(corev1.ContainerStatus{Name: "a", Started: &started, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}),
			"Pending", "container a runs, but its readiness probe does not succeed yet", false},
		"evicted":   {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory."}, "Evicted", "The node was low on resource: memory.", false},
		"just made": {corev1.PodStatus{Phase: corev1.PodPending}, "Pending", "it is not ready yet", false},
	} {
		n, _ := podNode(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: test.status})
		must.Equal(t, name, []any{n.State, n.Reason, n.Done}, []any{test.state, test.reason, test.done})
	}
}

// TestLogsThatCannotBeRead are noted.
func TestLogsThatCannotBeRead(t *testing.T) {
	logs := func(context.Context, client.ObjectKey, string, bool) (io.ReadCloser, error) {
		return nil, errors.New("the kubelet does not answer")
	}
	o := must.Value(OperatorReader{Reader: removalCluster(t, failingOperator(t)...), Logs: logs, Now: operatorNow}.Operator(t.Context(), v1alpha1.SubscriptionKind, subscriptionKite))(t)
	must.Equal(t, "no line", o.Cause.LastLog, "")
	must.Contain(t, "notes", strings.Join(o.Notes, "\n"), "the log of container manager of pod kite-7d-abc cannot be read: the kubelet does not answer")
}

// TestManyEvents are bounded, and the others are counted.
func TestManyEvents(t *testing.T) {
	objects := failingOperator(t)
	for i := range 60 {
		objects = append(objects, anEvent(fmt.Sprintf("more-%d", i), "Pod", "kite-7d-abc", "Normal", "Pulled", "x", operatorNow.Add(-time.Duration(i)*time.Minute)))
	}
	o := must.Value(OperatorReader{Reader: removalCluster(t, objects...), Now: operatorNow}.Operator(t.Context(), v1alpha1.SubscriptionKind, subscriptionKite))(t)
	must.Equal(t, "events", []int{len(o.Events), o.MoreEvents}, []int{maxEvents, 62 - maxEvents})
}

// TestStandings: what waits for a person is told apart from what fails.
func TestStandings(t *testing.T) {
	asks := Listed{API: "v1", State: "Blocked", Reason: "kite.v2 asks for more\nto allow them: set annotation " + permissions.AcknowledgedKey + " of ClusterExtension kite to \"sha256:1\"\nto see what is in the way: fairlead plan kite"}
	for _, test := range []struct {
		want string
		l    Listed
	}{{Works, Listed{API: "v0", Done: true, State: "AtLatestKnown"}}, {Waits, Listed{API: "v0", State: "RequiresApproval"}}, {Waits, asks}, {Fails, Listed{API: "v0", State: "Failed"}}, {Fails, Listed{API: "v1", State: "Blocked"}}} {
		must.Equal(t, test.l.State, test.l.Standing(), test.want)
	}
	must.Equal(t, "advice", advice(Node{State: "Blocked"}, asks), "check what it changes, then approve it or leave it")
}

// TestCauseOfAnUpgrade: what says most nearly why is furthest down, whichever revision comes first.
func TestCauseOfAnUpgrade(t *testing.T) {
	pod := Node{Kind: "Pod", Name: "new", Reason: "no node"}
	tree := Node{Kind: "ClusterExtension", Reason: "Revision 2 is rolling out.", Children: []Node{
		{Kind: "ClusterObjectSet", Name: "kite-1", Reason: "Revision 1 is rolling out."},
		{Kind: "ClusterObjectSet", Name: "kite-2", Children: []Node{{Kind: "Deployment", Done: true, Children: []Node{{Kind: "Pod", Name: "old", Done: true}, pod, {Kind: "Pod", Name: "other", Reason: "no node"}}}}},
	}}
	must.Equal(t, "the cause", tree.deepest().Name, "new")
	tree.Children[1].Children = nil
	must.Equal(t, "without pods", tree.deepest().Name, "kite-1")
	tree.Children[0].Children = []Node{pod}
	tree.Children[1].Reason = "its service account may not"
	must.Equal(t, "refused, while a pod of the version before is not ready", tree.deepest().Name, "kite-2")
	running := Node{Kind: "ClusterServiceVersion", Name: "kite.v1", Children: []Node{pod}}
	plan := Node{Kind: "InstallPlan", Name: "install-2", State: "Failed", Reason: "forbidden"}
	must.Equal(t, "a plan that failed", Node{Children: []Node{plan, running}}.deepest().Name, "install-2")
	plan.State = "RequiresApproval"
	must.Equal(t, "a plan that waits", Node{Children: []Node{plan, running}}.deepest().Name, "new")
	tree.Children = nil
	must.Equal(t, "alone", tree.deepest().Kind, "ClusterExtension")
}
