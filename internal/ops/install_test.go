package ops

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func cluster(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(v1alpha1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.Subscription{}).Build()
}

func sampleCatalog(namespace, name string) client.Object {
	return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func installGroup(name string) client.Object {
	return &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}}
}

// written is how many objects of a kind there are.
func written[L any, P interface {
	*L
	client.ObjectList
}](t *testing.T, c client.Client) int {
	t.Helper()
	list := P(new(L))
	must.NoError(t, c.List(t.Context(), list))
	return apimeta.LenList(list)
}

func TestPackage(t *testing.T) {
	existing := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "etcd"}, Spec: &v1alpha1.SubscriptionSpec{Package: "etcd", Channel: "stable"}}
	tests := map[string]struct {
		objects []client.Object
		change  func(*InstallOptions)
		want    []string
		err     string
		channel string
		targets string // of the OperatorGroup that is created
	}{
		"everything is missing":            {objects: []client.Object{sampleCatalog("olm", "c")}, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}},
		"a group is kept":                  {objects: []client.Object{sampleCatalog("olm", "c"), installGroup("mine")}, want: []string{"Namespace ops", "Subscription etcd"}},
		"a catalog of the namespace":       {objects: []client.Object{sampleCatalog("ops", "c")}, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}},
		"the same again":                   {objects: []client.Object{sampleCatalog("olm", "c"), installGroup("mine"), existing}, want: []string{"Namespace ops"}},
		"a Subscription to something else": {objects: []client.Object{sampleCatalog("olm", "c"), existing}, change: func(o *InstallOptions) { o.Channel = "alpha" }, err: "not the one that would be created; see it with: fairlead status etcd -n ops; change it with: fairlead upgrade etcd -n ops --channel alpha; or remove it with: fairlead uninstall etcd -n ops"},
		"it is there as a dependency":      {objects: []client.Object{sampleCatalog("olm", "c"), &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "etcd-stable-c-olm"}, Spec: &v1alpha1.SubscriptionSpec{Package: "etcd"}}}, err: "Subscription ops/etcd-stable-c-olm already"},
		"approval that differs":            {objects: []client.Object{sampleCatalog("olm", "c"), existing}, change: func(o *InstallOptions) { o.Manual = true }, err: "not the one that would be created"},
		"a starting version differs":       {objects: []client.Object{sampleCatalog("olm", "c"), existing}, change: func(o *InstallOptions) { o.StartingCSV = "etcd.v1" }, err: "not the one that would be created"},
		"another package of the name":      {objects: []client.Object{sampleCatalog("olm", "c"), &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "etcd"}, Spec: &v1alpha1.SubscriptionSpec{Package: "other"}}}, err: "not the one that would be created"},
		"no catalog":                       {err: "no CatalogSource is in view of namespace ops; create one with fairlead catalog add NAME IMAGE -n NAMESPACE, olm for all namespaces"},
		"catalogs that others see":         {objects: []client.Object{sampleCatalog("demo", "c")}, err: "in view of namespace ops; other namespaces have CatalogSource demo/c, which only they see: -n demo; create one"},
		"two catalogs":                     {objects: []client.Object{sampleCatalog("olm", "a"), sampleCatalog("olm", "b")}, err: "several CatalogSources are in view of namespace ops: olm/a, olm/b; name one of them with --catalog"},
		"two catalogs, one named":          {objects: []client.Object{sampleCatalog("olm", "a"), sampleCatalog("olm", "b")}, change: func(o *InstallOptions) { o.Catalog = "b" }, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}},
		"a catalog that is not there":      {objects: []client.Object{sampleCatalog("olm", "a")}, change: func(o *InstallOptions) { o.Catalog = "z" }, err: "there is no CatalogSource z in view of namespace ops; there is olm/a"},
		"two groups":                       {objects: []client.Object{sampleCatalog("olm", "c"), installGroup("a"), installGroup("b")}, err: "namespace ops has 2 OperatorGroups"},
		"targets, but there is a group":    {objects: []client.Object{sampleCatalog("olm", "c"), installGroup("a")}, change: func(o *InstallOptions) { o.Targets = []string{"x"} }, err: "leave out --watch"},
		"the default channel":              {objects: []client.Object{sampleCatalog("olm", "c")}, change: func(o *InstallOptions) { o.DefaultChannel = "stable" }, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}, channel: "stable"},
		"a channel comes before that":      {objects: []client.Object{sampleCatalog("olm", "c")}, change: func(o *InstallOptions) { o.Channel, o.DefaultChannel = "alpha", "stable" }, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}, channel: "alpha"},
		"one that follows another channel": {objects: []client.Object{sampleCatalog("olm", "c"), installGroup("mine"), existing}, change: func(o *InstallOptions) { o.DefaultChannel = "beta" }, want: []string{"Namespace ops"}, channel: "stable"},
		"namespace default":                {objects: []client.Object{sampleCatalog("olm", "c")}, change: func(o *InstallOptions) { o.Namespace = "default" }, err: "choose another namespace with -n, such as operators"},
		"namespace default, with targets":  {objects: []client.Object{sampleCatalog("olm", "c")}, change: func(o *InstallOptions) { o.Namespace, o.Targets = "default", []string{"default"} }, want: []string{"Namespace default", "OperatorGroup default", "Subscription etcd"}},
		"it watches its namespace alone":   {objects: []client.Object{sampleCatalog("olm", "c")}, change: func(o *InstallOptions) { o.Modes = []string{"OwnNamespace"} }, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}, targets: "ops"},
		"it may watch all":                 {objects: []client.Object{sampleCatalog("olm", "c")}, change: func(o *InstallOptions) { o.Modes = []string{"OwnNamespace", "AllNamespaces"} }, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}},
		"it watches what is asked for":     {objects: []client.Object{sampleCatalog("olm", "c")}, change: func(o *InstallOptions) { o.Modes, o.Targets = []string{"OwnNamespace"}, []string{"x", "y"} }, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}, targets: "x y"},
		"nothing is written":               {objects: []client.Object{sampleCatalog("olm", "c")}, change: func(o *InstallOptions) { o.DryRun = true }, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}},
		"the namespace is the global one":  {objects: []client.Object{sampleCatalog("olm", "c")}, change: func(o *InstallOptions) { o.Namespace = "olm" }, want: []string{"Namespace olm", "OperatorGroup olm", "Subscription etcd"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := InstallOptions{Package: "etcd", Namespace: "ops", GlobalNamespace: "olm"}
			if test.change != nil {
				test.change(&o)
			}
			c := cluster(t, test.objects...)
			asked, err := InstallPackage(t.Context(), c, o)
			if test.err != "" {
				must.Fail(t, "the call", err, test.err)
				must.Equal(t, "namespaces after an error", written[corev1.NamespaceList](t, c), 0)
				return
			}
			must.NoError(t, err)
			must.Equal(t, "created", asked.Created, test.want)
			groups := &operatorsv1.OperatorGroupList{}
			must.NoError(t, c.List(t.Context(), groups, client.InNamespace("ops")))
			if len(groups.Items) == 1 && groups.Items[0].Name == "ops" {
				must.Equal(t, "targets", strings.Join(groups.Items[0].Spec.TargetNamespaces, " "), test.targets)
			}
			if test.channel != "" {
				must.Equal(t, "channel", asked.Subscription.Spec.Channel, test.channel)
			}
			if o.DryRun {
				must.Equal(t, "namespaces after a dry run", written[corev1.NamespaceList](t, c), 0)
				must.Equal(t, "Subscriptions after a dry run", written[v1alpha1.SubscriptionList](t, c), 0)
			}
		})
	}
}

func TestWait(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "etcd"}}
	c := cluster(t, sub)
	set := func(status corev1.ConditionStatus, message string) {
		sub.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: status, Message: message}}
		sub.Status.InstalledCSV = "etcd.v1"
		must.NoError(t, c.Status().Update(t.Context(), sub))
	}
	set("False", "fetching etcd.v1")
	var told []string
	name, err := WaitPackage(t.Context(), c, client.ObjectKeyFromObject(sub), func(_, message string) {
		told = append(told, message)
		set("True", "runs")
	})
	if err != nil || name != "etcd.v1" || len(told) != 1 || told[0] != "fetching etcd.v1" {
		t.Errorf("Wait gave %q, %v and told %v", name, err, told)
	}
	set("False", "no such channel")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := WaitPackage(ctx, c, client.ObjectKeyFromObject(sub), func(string, string) {}); err == nil || !strings.Contains(err.Error(), "no such channel") {
		t.Errorf("when time is up: %v", err)
	}
}

// TestAWaitEndsAtOnce where nothing more happens by itself; what a Subscription says of an older spec does not count, and what stopped it before the wait
// began has to last for a moment.
func TestAWaitEndsAtOnce(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "etcd"}}
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
	plan.Spec.ClusterServiceVersionNames, plan.Status.Phase = []string{"etcd.v1"}, v1alpha1.InstallPlanPhaseRequiresApproval
	for name, test := range map[string]struct {
		stalled    corev1.ConditionStatus
		reason     string
		generation int64
		plan       string
		want       string
		took       time.Duration
	}{
		"stalled before":             {stalled: "True", reason: "ResolutionFailed", want: "Subscription ops/etcd: ResolutionFailed: the reason", took: settle},
		"waits for approval":         {reason: "RequiresApproval", plan: "install-1", want: "InstallPlan install-1, which installs etcd.v1, waits for approval: fairlead approve etcd -n ops"},
		"waits for another plan":     {reason: "RequiresApproval", plan: "install-2", want: "it is not ready: the reason", took: time.Minute},
		"stalled by an older spec":   {stalled: "True", reason: "ResolutionFailed", generation: 2, want: "it is not ready: the reason", took: time.Minute},
		"something else is going on": {stalled: "False", reason: "InstallPlanPending", want: "it is not ready: the reason", took: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sub := sub.DeepCopy()
				sub.Generation, sub.Status.ObservedGeneration = test.generation, 1
				sub.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: "False", Reason: test.reason, Message: "the reason"}, {Type: "Stalled", Status: test.stalled, Reason: test.reason}}
				sub.Status.InstallPlanRef = &corev1.ObjectReference{Name: test.plan}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				tell := func(reason, message string) {
					if reason == "RequiresApproval" {
						t.Errorf("what was approved since is told of: %s", message)
					}
				}
				_, err := WaitPackage(ctx, cluster(t, sub, plan), client.ObjectKeyFromObject(sub), tell)
				must.Fail(t, "the wait", err, test.want)
				must.Equal(t, "it took", time.Since(began), test.took)
				if ends := errors.As(err, new(*StoppedError)) || errors.As(err, new(*WaitsError)); ends != !strings.Contains(test.want, "not ready") {
					t.Errorf("it ended with %T", err)
				}
			})
		})
	}
}

// TestAWaitBelievesWhatIsNew: what stops an object while a command waits ends the wait at once, and what has gone meanwhile does not.
func TestAWaitBelievesWhatIsNew(t *testing.T) {
	var f finding
	must.Equal(t, "nothing yet", f.believe(""), false)
	must.Equal(t, "what is new", f.believe("stopped"), true)
	f = finding{}
	must.Equal(t, "what was there", f.believe("stopped"), false)
	must.Equal(t, "what is another one", f.believe("stopped by something else"), true)
	f = finding{}
	for range int(settle / pollInterval) {
		must.Equal(t, "what was there", f.believe("stopped"), false)
	}
	must.Equal(t, "what has lasted", f.believe("stopped"), true)
	f = finding{}
	f.believe("stopped")
	must.Equal(t, "what has gone", f.believe(""), false)
	must.Equal(t, "what comes back", f.believe("stopped"), true)
}

// TestSummarizePackage names the operator with those that came for its needs, by package and version.
func TestSummarizePackage(t *testing.T) {
	csv := func(name, version string) client.Object {
		c := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}}
		c.Spec.Version.Version = semver.MustParse(version)
		return c
	}
	sub := func(name, pkg string) *v1alpha1.Subscription {
		return &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}, Spec: &v1alpha1.SubscriptionSpec{Package: pkg}}
	}
	step := func(kind, name, resolving string) *v1alpha1.Step {
		return &v1alpha1.Step{Resolving: resolving, Resource: v1alpha1.StepResource{Kind: kind, Name: name}}
	}
	book := sub("guestbook", "guestbook")
	book.Status.InstalledCSV, book.Status.InstallPlanRef = "guestbook.v1.2.0", &corev1.ObjectReference{Name: "install-1"}
	for name, test := range map[string]struct {
		steps []*v1alpha1.Step
		want  string
	}{
		"alone":    {want: "guestbook 1.2.0 in namespace ops"},
		"with one": {steps: []*v1alpha1.Step{nil, step("ClusterServiceVersion", "greeter.v1", "greeter.v1"), step("Subscription", "greeter-stable", "greeter.v1")}, want: "guestbook 1.2.0 and its dependency greeter 1.0.0 in namespace ops"},
		"with two, one is gone": {steps: []*v1alpha1.Step{step("Subscription", "greeter-stable", "greeter.v1"), step("Subscription", "gone", "lost.v3")},
			want: "guestbook 1.2.0 and its dependencies greeter 1.0.0 and lost.v3 in namespace ops"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}, Status: v1alpha1.InstallPlanStatus{Plan: test.steps}}
			c := cluster(t, book.DeepCopy(), sub("greeter-stable", "greeter"), csv("guestbook.v1.2.0", "1.2.0"), csv("greeter.v1", "1.0.0"), plan)
			must.Equal(t, "summary", must.Value(SummarizePackage(t.Context(), c, client.ObjectKeyFromObject(book)))(t).String(), test.want)
		})
	}
}
