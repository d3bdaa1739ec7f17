package ops

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"fairlead.dev/fairlead/test/must"
)

func clusterV1(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(olmv1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&olmv1.ClusterExtension{}).Build()
}

func clusterCatalog(name string) client.Object {
	return &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}}
}

func namespace(name string) client.Object {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func newExtension(name, pkg string, change func(*olmv1.ClusterExtension)) *olmv1.ClusterExtension {
	e, err := ExtensionOptions{Name: name, Package: pkg, Namespace: "ops"}.Object()
	if err != nil {
		panic(err)
	}
	e.Spec.Source.Catalog.UpgradeConstraintPolicy = "CatalogProvided" // which the API fills in
	if change != nil {
		change(e)
	}
	return e
}

func TestExtensionObject(t *testing.T) {
	o := ExtensionOptions{Package: "kite", Namespace: "ops", Version: "1.x", Channels: []string{"stable"}, Policy: "SelfCertified", Catalogs: []string{"toys"},
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, ServiceAccount: "kite", Watch: []string{"x"},
		Config: map[string]any{"deploymentConfig": map[string]any{}}, CRDSafety: "None", Annotations: map[string]string{"k": "v"}}
	e := must.Value(o.Object())(t)
	got, err := json.Marshal(e.Spec)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"namespace":"ops","serviceAccount":{"name":"kite"},"source":{"sourceType":"Catalog","catalog":{"packageName":"kite","version":"1.x","channels":["stable"],` +
		`"selector":{"matchLabels":{"a":"b","olm.operatorframework.io/metadata.name":"toys"}},"upgradeConstraintPolicy":"SelfCertified"}},` +
		`"install":{"preflight":{"crdUpgradeSafety":{"enforcement":"None"}}},"config":{"configType":"Inline","inline":{"deploymentConfig":{},"watchNamespace":"x"}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" || e.Name != "kite" || e.Annotations["k"] != "v" {
		t.Errorf("%s (-want +got):\n%s", e.Name, diff)
	}
	o.Watch, o.Catalogs = []string{"x", "y"}, []string{"toys", "more"}
	if e, err = o.Object(); err != nil || !strings.Contains(string(e.Spec.Config.Inline.Raw), `"watchNamespaces":["x","y"]`) || len(e.Spec.Source.Catalog.Selector.MatchExpressions) != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	o.Config["watchNamespace"] = "z"
	if _, err = o.Object(); err == nil || !strings.Contains(err.Error(), "says watchNamespace already") {
		t.Errorf("%v", err)
	}
}

// TestAdoptsInto: a ClusterExtension that is there is given leave where it is, and nothing is looked up for it.
func TestAdoptsInto(t *testing.T) {
	c := clusterV1(t, newExtension("kite", "kite", nil))
	for name, test := range map[string]struct {
		o         ExtensionOptions
		there     bool
		namespace string
	}{
		"one that is there":            {ExtensionOptions{Package: "kite", Adopt: true}, true, "ops"},
		"a namespace that is chosen":   {ExtensionOptions{Package: "kite", Namespace: "else", Adopt: true}, true, "else"},
		"by its name":                  {ExtensionOptions{Name: "kite", Package: "hawk", Adopt: true}, true, "ops"},
		"a new one":                    {ExtensionOptions{Package: "hawk", Adopt: true}, false, ""},
		"one that is there, no matter": {ExtensionOptions{Package: "kite"}, false, ""},
	} {
		there, err := test.o.AdoptsInto(t.Context(), c)
		must.NoError(t, err)
		must.Equal(t, name, there, test.there)
		must.Equal(t, name, test.o.Namespace, test.namespace)
	}
}

func TestExtend(t *testing.T) {
	adopt := func(o *ExtensionOptions) { o.Adopt = true }
	tests := map[string]struct {
		objects []client.Object
		change  func(*ExtensionOptions)
		want    []string
		notes   string
		err     []string
	}{
		"all is there":        {objects: []client.Object{clusterCatalog("c"), namespace("ops")}, want: []string{"ClusterExtension kite"}},
		"no namespace":        {objects: []client.Object{clusterCatalog("c")}, err: []string{"there is no namespace ops; add --create-namespace"}},
		"a new namespace":     {objects: []client.Object{clusterCatalog("c")}, change: func(o *ExtensionOptions) { o.CreateNamespace = true }, want: []string{"Namespace ops", "ClusterExtension kite"}},
		"nothing is there":    {change: func(o *ExtensionOptions) { o.ServiceAccount = "sa" }, err: []string{"there is no namespace ops", "there is no ServiceAccount sa in namespace ops", "there is no ClusterCatalog; create one with fairlead catalog add NAME IMAGE --api v1"}},
		"a name":              {objects: []client.Object{clusterCatalog("c"), namespace("ops")}, change: func(o *ExtensionOptions) { o.Name = "mine" }, want: []string{"ClusterExtension mine"}},
		"the same again":      {objects: []client.Object{clusterCatalog("c"), namespace("ops"), newExtension("kite", "kite", nil)}},
		"another of the name": {objects: []client.Object{clusterCatalog("c"), namespace("ops"), newExtension("kite", "kite", func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.Version = "1.0.0" })}, err: []string{"it is not the one that would be created"}},
		"one that goes": {objects: []client.Object{clusterCatalog("c"), namespace("ops"), newExtension("kite", "kite", func(e *olmv1.ClusterExtension) {
			e.DeletionTimestamp, e.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"a/b"}
		})}, err: []string{"ClusterExtension kite is being deleted; wait until it is gone"}},
		"another of the package":    {objects: []client.Object{clusterCatalog("c"), namespace("ops"), newExtension("other", "kite", nil)}, want: []string{"ClusterExtension kite"}, notes: "ClusterExtension other installs package kite, too"},
		"one catalog of two":        {objects: []client.Object{clusterCatalog("c"), clusterCatalog("d"), namespace("ops")}, change: func(o *ExtensionOptions) { o.Catalogs = []string{"d"} }, want: []string{"ClusterExtension kite"}},
		"a catalog that is missing": {objects: []client.Object{clusterCatalog("c"), namespace("ops")}, change: func(o *ExtensionOptions) { o.Catalogs = []string{"e"} }, err: []string{"none of the ClusterCatalogs is selected; there is c"}},
		"two, one of them missing":  {objects: []client.Object{clusterCatalog("c"), namespace("ops")}, change: func(o *ExtensionOptions) { o.Catalogs = []string{"c", "e"} }, want: []string{"ClusterExtension kite"}, notes: "there is no ClusterCatalog e"},
		"a selector": {objects: []client.Object{clusterCatalog("c"), namespace("ops")}, change: func(o *ExtensionOptions) {
			o.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "c"}}
		}, want: []string{"ClusterExtension kite"}},
		"the default channel is written": {objects: []client.Object{clusterCatalog("c"), namespace("ops")}, change: func(o *ExtensionOptions) { o.DefaultChannel = "stable" }, want: []string{"ClusterExtension kite"}},
		"one that follows another channel": {objects: []client.Object{clusterCatalog("c"), namespace("ops"), newExtension("kite", "kite", func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.Channels = []string{"fast"} })},
			change: func(o *ExtensionOptions) { o.DefaultChannel = "stable" }},
		"to adopt, a new one": {objects: []client.Object{clusterCatalog("c"), namespace("ops")}, change: adopt, want: []string{"ClusterExtension kite"}},
		"to adopt, one that says more": {objects: []client.Object{clusterCatalog("c"), namespace("ops"), newExtension("kite", "kite", func(e *olmv1.ClusterExtension) {
			e.Spec.Source.Catalog.Version, e.Spec.ServiceAccount, e.Spec.ProgressDeadlineMinutes = "1.0.0", &olmv1.ServiceAccountReference{Name: "sa"}, 10
		})}, change: adopt},
		"to adopt, one that follows no catalog": {objects: []client.Object{newExtension("kite", "kite", func(e *olmv1.ClusterExtension) {
			e.Annotations = map[string]string{"operators.fairlead.dev/bundle-image": "i"}
		})}, change: adopt},
		"to adopt, another version": {objects: []client.Object{clusterCatalog("c"), namespace("ops"), newExtension("kite", "kite", func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.Version = "1.0.0" })},
			change: func(o *ExtensionOptions) { o.Adopt, o.Version = true, "2.0.0" }, err: []string{"it is not the one that would be created"}},
		"to adopt, in another namespace": {objects: []client.Object{clusterCatalog("c"), namespace("ops"), newExtension("kite", "kite", func(e *olmv1.ClusterExtension) { e.Spec.Namespace = "else" })},
			change: adopt, err: []string{"it is not the one that would be created"}},
		"written by nobody": {objects: []client.Object{clusterCatalog("c")}, change: func(o *ExtensionOptions) { o.CreateNamespace, o.DryRun = true, true }, want: []string{"Namespace ops", "ClusterExtension kite"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := ExtensionOptions{Package: "kite", Namespace: "ops"}
			if test.change != nil {
				test.change(&o)
			}
			c := clusterV1(t, test.objects...)
			a, err := InstallExtension(t.Context(), c, o)
			for _, want := range test.err {
				must.Fail(t, "the call", err, want)
			}
			if len(test.err) == 0 && err != nil {
				t.Fatal(err)
			}
			must.Equal(t, "created", a.Created, test.want)
			if notes := strings.Join(a.Notes, "\n"); !strings.Contains(notes, test.notes) || test.notes == "" && notes != "" {
				t.Errorf("notes %q, want %q", notes, test.notes)
			}
			var written olmv1.ClusterExtensionList
			must.NoError(t, c.List(t.Context(), &written))
			if o.Adopt && len(test.err) == 0 {
				must.Equal(t, "annotation", written.Items[0].Annotations["operators.fairlead.dev/adopt-existing"], "true")
				must.Equal(t, "an existing one may adopt now", a.Adopting, len(test.want) == 0)
			}
			if o.DryRun {
				must.Empty(t, "a dry run wrote", written.Items)
			} else if o.DefaultChannel != "" && len(test.want) > 0 {
				must.Equal(t, "channels", written.Items[0].Spec.Source.Catalog.Channels, []string{"stable"})
			}
		})
	}
}

// TestAStatusThatKnowsNothingOfTheAnnotations is one to wait for: annotations raise no generation.
func TestAStatusThatKnowsNothingOfTheAnnotations(t *testing.T) {
	blocked := []metav1.Condition{{Type: olmv1.TypeProgressing, Status: metav1.ConditionFalse, Reason: olmv1.ReasonBlocked, Message: "asks for permissions"}}
	const key = olmv1.SettingsPrefix + "acknowledged-permissions"
	seen := func(value string) []metav1.Condition {
		return append(slices.Clone(blocked), *olmv1.NewAnnotationsSeen(map[string]string{key: value, "example.com/x": "y"}))
	}
	for name, test := range map[string]struct {
		annotation string
		conditions []metav1.Condition
		stopped    bool
	}{
		"without any":      {"", blocked, true},
		"not seen":         {"new", blocked, false},
		"the one before":   {"new", seen("old"), false},
		"seen":             {"new", seen("new"), true},
		"taken away":       {"", seen("old"), false},
		"another's is not": {"", blocked, true},
	} {
		e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.com/x": name}}}
		if test.annotation != "" {
			e.Annotations[key] = test.annotation
		}
		e.Status.Conditions = test.conditions
		if got := Stand(e); got.Stopped != test.stopped {
			t.Errorf("%s: %+v, want it stopped: %t", name, got, test.stopped)
		}
	}
}

func TestWaitExtension(t *testing.T) {
	e := newExtension("kite", "kite", nil)
	c := clusterV1(t, e)
	set := func(conditions ...metav1.Condition) {
		e.Status.Conditions = nil
		for _, condition := range conditions {
			meta.SetStatusCondition(&e.Status.Conditions, condition)
		}
		if err := c.Status().Update(t.Context(), e); err != nil {
			t.Error(err)
		}
	}
	progressing := func(status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return olmv1.NewCondition(olmv1.TypeProgressing, status, reason, message)
	}
	installed := olmv1.NewCondition(olmv1.TypeInstalled, "True", "Succeeded", "Installed bundle")
	var told []string
	steps := []func(){
		func() { set(installed, progressing("True", "RollingOut", "rolls out")) },
		func() {
			set(installed, progressing("True", "Succeeded", "done"), olmv1.NewCondition(olmv1.TypeAvailable, "False", "ProbeFailure", "Deployment kite"))
		},
		func() { set(installed, progressing("True", "Succeeded", "done")) },
	}
	set(progressing("True", "Retrying", "no such package"))
	done, err := WaitExtension(t.Context(), c, "kite", func(reason, message string) {
		told = append(told, reason+": "+message)
		steps[0]()
		steps = steps[1:]
	})
	if err != nil || done.Name != "kite" {
		t.Fatal(err)
	}
	must.Equal(t, "held", Stand(done).Held, "")
	set(installed, progressing("True", "Succeeded", "Desired state reached\nupgrade held until 2026-11-30T21:00:00Z: kite.v2 waits\nanother note"))
	must.Equal(t, "held", Stand(e), Standing{Done: true, Reason: "Succeeded", Message: e.Status.Conditions[1].Message, Held: "upgrade held until 2026-11-30T21:00:00Z: kite.v2 waits"})
	must.Equal(t, "told", told, []string{"Retrying: no such package", "RollingOut: rolls out", "ProbeFailure: Deployment kite"})
	set(progressing("False", "InvalidConfiguration", `required field "watchNamespace" is missing`))
	if _, err := WaitExtension(t.Context(), c, "kite", func(string, string) {}); err == nil || !strings.Contains(err.Error(), `InvalidConfiguration: required field "watchNamespace" is missing`) {
		t.Errorf("when it stops: %v", err)
	}
	set(progressing("True", "Retrying", "no such package"), olmv1.NewCondition("Stalled", "True", "PackageNotFound", "no such package"))
	if _, err := WaitExtension(t.Context(), c, "kite", func(string, string) {}); !errors.As(err, new(*StoppedError)) {
		t.Errorf("when it is stalled: %v", err)
	}
	set()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := WaitExtension(ctx, c, "kite", func(string, string) { t.Error("told something") }); err == nil || !strings.Contains(err.Error(), "is the manager running?") {
		t.Errorf("when time is up: %v", err)
	}
}

// TestAWaitForADependencyEnds where none comes within a few seconds; a catalog that is being loaded is waited for.
func TestAWaitForADependencyEnds(t *testing.T) {
	for reason, stops := range map[string]bool{"DependencyMissing": true, "NoCatalog": true, "CatalogUnavailable": false} {
		synctest.Test(t, func(t *testing.T) {
			e := newExtension("kite", "kite", nil)
			e.Status.Conditions = []metav1.Condition{olmv1.NewCondition(olmv1.TypeProgressing, "True", "Retrying", "string is needed"), olmv1.NewCondition("Ready", "False", reason, "string is needed")}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			_, err := WaitExtension(ctx, clusterV1(t, e), "kite", func(string, string) {})
			must.Fail(t, reason, err, "string is needed")
			must.Equal(t, reason+": it stops", errors.As(err, new(*StoppedError)), stops)
			must.Equal(t, reason+": after", time.Since(began), map[bool]time.Duration{true: patience, false: time.Minute}[stops])
		})
	}
}

// TestSummarizeExtension names the bundle, and what was installed for its needs and for the needs of that.
func TestSummarizeExtension(t *testing.T) {
	installed := func(name, version, of string) *olmv1.ClusterExtension {
		return newExtension(name, name+"-operator", func(e *olmv1.ClusterExtension) {
			e.Status.Install = &olmv1.ClusterExtensionInstallStatus{Bundle: olmv1.BundleMetadata{Name: name + ".v" + version, Version: version}}
			if of != "" {
				e.Labels, e.Annotations = map[string]string{DependencyLabel: "true"}, map[string]string{RequiredByKey: of}
			}
		})
	}
	book := installed("guestbook", "1.2.0", "")
	c := clusterV1(t, book, installed("greeter", "1.1.0", "guestbook"), installed("words", "0.1.0", "greeter"), installed("other", "1.0.0", "another"))
	must.Equal(t, "summary", must.Value(SummarizeExtension(t.Context(), c, book))(t).String(),
		"guestbook-operator 1.2.0 and its dependencies greeter-operator 1.1.0 and words-operator 0.1.0 in namespace ops")
	must.Equal(t, "alone", must.Value(SummarizeExtension(t.Context(), clusterV1(t, book.DeepCopy()), book))(t).String(), "guestbook-operator 1.2.0 in namespace ops")
}
