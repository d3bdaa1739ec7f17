package preview

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var examples = filepath.Join("..", "..", "..", "examples")

func load(t *testing.T, version string) *bundle.Bundle {
	t.Helper()
	b := must.Value(bundle.Load(os.DirFS(filepath.Join(examples, "bundles", "greeter-operator", version))))(t)
	return b
}

// planner is for a cluster with some objects.
func planner(t *testing.T, objects ...client.Object) Planner {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(olmv1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), v2.AddToScheme(scheme), corev1.AddToScheme(scheme), rbacv1.AddToScheme(scheme), appsv1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)))
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	r := &bundleio.Renderer{}
	l := must.Value(OpenLibrary(t.Context(), r))(t)
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), r.Close()); err != nil {
			t.Error(err)
		}
	})
	return Planner{Client: fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme)).WithObjects(objects...).Build(), Library: l,
		Fetch: func(_ context.Context, r bundleio.Request) (*bundle.Bundle, error) {
			if r.Name == "" {
				return load(t, "1.0.0"), nil
			}
			if !r.ByCatalog {
				return nil, fmt.Errorf("bundle %s is refused if its ClusterServiceVersion has another name, and the controller accepts that", r.Name)
			}
			return load(t, strings.TrimPrefix(r.Name, "greeter-operator.v")), nil
		}}
}

func extension(change func(*olmv1.ClusterExtension)) olmv1.ClusterExtension {
	e := olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "greeter", UID: "ext"}}
	e.Spec.Namespace = "ops"
	e.Spec.Source = olmv1.SourceConfig{SourceType: "Catalog", Catalog: &olmv1.CatalogFilter{PackageName: "greeter-operator"}}
	if change != nil {
		change(&e)
	}
	return e
}

// installed is an extension that has a version, with what the cluster has of it.
func installed(t *testing.T, version string) (olmv1.ClusterExtension, []client.Object) {
	t.Helper()
	e := extension(func(e *olmv1.ClusterExtension) {
		e.Status.Install = &olmv1.ClusterExtensionInstallStatus{Bundle: olmv1.BundleMetadata{Name: "greeter-operator.v" + version, Version: version}}
	})
	rendered := must.Value(registryv1.Render(load(t, version), desired.RenderOptions(&e, registryv1.BuiltIn)))(t)
	r := must.Value(revision.Build(revision.Options{Extension: revision.Extension{Name: "greeter", UID: "ext", Namespace: "ops"}, Number: 1, SystemNamespace: "olm", Objects: desired.Objects(rendered),
		Annotations: map[string]string{olmv1.BundleNameKey: "greeter-operator.v" + version, olmv1.BundleVersionKey: version, olmv1.PackageNameKey: "greeter-operator"}}))(t)
	r.Set.UID = "set"
	meta.SetStatusCondition(&r.Set.Status.Conditions, olmv1.NewCondition(olmv1.TypeSucceeded, "True", "Succeeded", ""))
	objects := []client.Object{r.Set, e.DeepCopy()}
	for _, s := range r.Secrets {
		objects = append(objects, s)
	}
	for _, u := range rendered.Objects {
		if u.GetKind() == "CustomResourceDefinition" {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			must.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, crd))
			crd.Status.StoredVersions = []string{"v1"}
			crd.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(r.Set, olmv1.GroupVersion.WithKind(olmv1.ClusterObjectSetKind))}
			objects = append(objects, crd)
		}
	}
	return e, objects
}

func planned(t *testing.T, p Planner, e olmv1.ClusterExtension) (*ExtensionPlan, string) {
	t.Helper()
	q := &Question{Objects: Objects{Extensions: []olmv1.ClusterExtension{e}},
		Catalogs: []Catalog{{Ref: catalog.Ref{Name: "demo"}, Source: filepath.Join(examples, "catalog")}}}
	plan := must.Value(p.Plan(t.Context(), q, "greeter"))(t)
	var b strings.Builder
	must.NoError(t, plan.Write(&b))
	return plan, b.String()
}

func namespace() client.Object { return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}} }

func TestPlanOfAnInstallation(t *testing.T) {
	plan, text := planned(t, planner(t, namespace()), extension(nil))
	if !plan.Changes() || len(plan.Blocked) != 0 || len(plan.Changed)+len(plan.Removed) != 0 || len(plan.ImagesAdded) != 1 || plan.Permissions == "" {
		t.Errorf("%+v", plan)
	}
	must.Contain(t, "text", text, "ClusterExtension greeter: install greeter-operator.v1.2.0\n", "  Deployment ops/greeter-operator", "  CustomResourceDefinition greetings.demo.fairlead.dev\n",
		"  greetings.demo.fairlead.dev: new\n", "  registry.example.com/fairlead/greeter-operator:v1.2.0\n")
}

// TestPlanTellsOfSignatures: who signed what is installed, and what the manager refuses.
func TestPlanTellsOfSignatures(t *testing.T) {
	const heading = "\nsignatures, as the manager reports them:\n"
	e, objects := installed(t, "1.0.0")
	if _, text := planned(t, planner(t, append(objects, namespace())...), e); strings.Contains(text, heading) {
		t.Errorf("without a policy there is something to say:\n%s", text)
	}
	record := &image.Verification{Outcome: image.Signed, Signers: []image.Signer{{Key: "sha256:k"}}}
	signed := "bundle greeter-operator.v1.0.0 is signed by key sha256:k"
	for _, test := range []struct{ status, message, more string }{
		{"True", signed, ""},
		{"False", "bundle greeter-operator.v1.1.0 is refused by rule 1", "  bundle greeter-operator.v1.1.0 is refused by rule 1\n"},
	} {
		e, objects := installed(t, "1.0.0")
		for _, o := range objects {
			switch o := o.(type) {
			case *olmv1.ClusterObjectSet:
				o.Annotations[image.OutcomeKey] = image.Record(record)
			case *olmv1.ClusterExtension:
				o.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeSignatureVerified, Status: metav1.ConditionStatus(test.status), Message: test.message}}
			}
		}
		plan, text := planned(t, planner(t, append(objects, namespace())...), e)
		if !strings.Contains(text, heading+"  "+signed+"\n"+test.more+"\n") && !strings.HasSuffix(text, heading+"  "+signed+"\n"+test.more) {
			t.Errorf("the text says:\n%s", text)
		}
		if plan.Installed.Signature != "signed by key sha256:k" || plan.Signature != test.message || string(plan.SignatureVerified) != test.status {
			t.Errorf("%+v", plan)
		}
	}
}

// TestBundlesAreNamedByTheirCatalog: the signature of a catalog can cover what it names, and of what is installed the one that named it then.
func TestBundlesAreNamedByTheirCatalog(t *testing.T) {
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	ref := strings.TrimPrefix(server.URL, "http://") + "/catalog:v1"
	root := t.TempDir()
	must.NoError(t, os.CopyFS(filepath.Join(root, "configs"), os.DirFS(filepath.Join(examples, "catalog"))))
	digest := must.Value(image.Push(t.Context(), ref, os.DirFS(root), image.CatalogLabels(), image.PushOptions{}))(t)
	plan := func(e olmv1.ClusterExtension, p Planner, source string) *image.Origin {
		var asked bundleio.Request
		fetch := p.Fetch
		p.Fetch = func(ctx context.Context, r bundleio.Request) (*bundle.Bundle, error) {
			asked = r
			return fetch(ctx, r)
		}
		q := &Question{Objects: Objects{Extensions: []olmv1.ClusterExtension{e}}}
		if source != "" {
			q.Catalogs = []Catalog{{Ref: catalog.Ref{Name: "demo"}, Source: source}}
		}
		must.Value(p.Plan(t.Context(), q, "greeter"))(t)
		return asked.NamedBy
	}
	if got := plan(extension(nil), planner(t, namespace()), ref); got == nil || got.Ref != ref || got.Digest != digest {
		t.Errorf("of an image: %+v", got)
	}
	if got := plan(extension(nil), planner(t, namespace()), filepath.Join(examples, "catalog")); got != nil {
		t.Errorf("of a directory: %+v", got)
	}
	named := &image.Origin{Ref: "quay.io/c:v1", Digest: "sha256:c"}
	e, objects := installed(t, "1.0.0")
	for _, o := range objects {
		if set, is := o.(*olmv1.ClusterObjectSet); is {
			set.Annotations[olmv1.BundleReferenceKey] = "quay.io/a@sha256:a"
			set.Annotations[image.OutcomeKey] = image.Record(&image.Verification{Outcome: image.Covered, Digest: "sha256:a", Catalog: named})
		}
	}
	if got := plan(e, planner(t, append(objects, namespace())...), ""); got == nil || *got != *named {
		t.Errorf("of what no catalog has any more: %+v", got)
	}
}

func TestPlanOfAnUpgrade(t *testing.T) {
	e, objects := installed(t, "1.0.0")
	plan, text := planned(t, planner(t, append(objects, namespace())...), e)
	if !plan.Changes() || plan.Wanted.Bundle != "greeter-operator.v1.1.0" || len(plan.CRDs) != 1 || plan.CRDs[0].Verdict != CRDSafe || len(plan.ImagesAdded) != 1 || len(plan.ImagesRemoved) != 1 || len(plan.Blocked) != 0 {
		t.Errorf("%+v\n%s", plan, text)
	}
	for _, c := range plan.Changed {
		if strings.HasPrefix(c.Name, "Deployment") && !strings.Contains(strings.Join(c.Fields, " "), ".spec.template.spec.containers") {
			t.Errorf("%+v", c)
		}
	}
}

// TestPlanOfAnOperatorThatWaits: an operator that says it cannot be upgraded now holds the next version up, and nothing else.
func TestPlanOfAnOperatorThatWaits(t *testing.T) {
	for version, waits := range map[string]bool{"1.0.0": true, "1.2.0": false} {
		e, objects := installed(t, version)
		says := &v2.OperatorCondition{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "greeter",
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&e, olmv1.GroupVersion.WithKind(olmv1.ClusterExtensionKind))}}}
		says.Spec.Overrides = []metav1.Condition{{Type: v2.ConditionUpgradeable, Status: metav1.ConditionFalse, Reason: "Backup", Message: "a backup runs"}}
		plan, _ := planned(t, planner(t, append(objects, namespace(), says)...), e)
		must.Equal(t, "with "+version+" installed, the operator waits", strings.Contains(strings.Join(plan.Blocked, "\n"), "operator is not upgradeable: "), waits)
	}
}

func TestPlanOfWhatIsUpToDate(t *testing.T) {
	e, objects := installed(t, "1.2.0")
	plan, text := planned(t, planner(t, append(objects, namespace())...), e)
	if plan.Changes() || len(plan.Blocked) != 0 || text != "ClusterExtension greeter: greeter-operator.v1.2.0 is up to date, nothing changes\n\nCustomResourceDefinitions:\n  greetings.demo.fairlead.dev: safe\n\n7 objects: 7 unchanged\n" {
		t.Errorf("%+v\n%s", plan, text)
	}
	// Another configuration changes the Deployment, and nothing else.
	e.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: "Inline", Inline: &apiextensionsv1.JSON{Raw: []byte(`{"deploymentConfig":{"nodeSelector":{"a":"b"}}}`)}}
	plan, text = planned(t, planner(t, append(objects, namespace())...), e)
	if len(plan.Changed) != 1 || !strings.HasPrefix(plan.Changed[0].Name, "Deployment ops/") || len(plan.Added)+len(plan.Removed) != 0 {
		t.Errorf("%+v\n%s", plan, text)
	}
}

// TestPlanOfVanishedContent: catalogs have the package no more. Another configuration of what is installed is acted on all the same, if its
// image can be had; otherwise nothing is decided.
func TestPlanOfVanishedContent(t *testing.T) {
	const vanished = `no bundles found for package "greeter-operator"`
	configured := func(e *olmv1.ClusterExtension) {
		e.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: "Inline", Inline: &apiextensionsv1.JSON{Raw: []byte(`{"deploymentConfig":{"nodeSelector":{"a":"b"}}}`)}}
	}
	for name, test := range map[string]struct {
		change  func(*olmv1.ClusterExtension)
		noImage bool
		gone    bool     // the registry
		blocked []string // empty is that the Deployment changes
	}{
		"another configuration": {change: configured},
		"nothing else":          {change: func(*olmv1.ClusterExtension) {}, blocked: []string{vanished}},
		"another version": {change: func(e *olmv1.ClusterExtension) {
			configured(e)
			e.Spec.Source.Catalog.Version = "9.x"
		}, blocked: []string{vanished}},
		"no image":    {change: configured, noImage: true, blocked: []string{vanished, "has no image, and no catalog has its manifests any more"}},
		"no registry": {change: configured, gone: true, blocked: []string{vanished, "read bundle greeter-operator.v1.2.0: the registry is gone"}},
		"a configuration that makes no sense": {change: func(e *olmv1.ClusterExtension) {
			e.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: "Inline", Inline: &apiextensionsv1.JSON{Raw: []byte(`{"nothing":1}`)}}
		}, blocked: []string{vanished, `"nothing"`}},
	} {
		t.Run(name, func(t *testing.T) {
			e, objects := installed(t, "1.2.0")
			if !test.noImage {
				objects[0].(*olmv1.ClusterObjectSet).Annotations[olmv1.BundleReferenceKey] = "registry.example.com/greeter@sha256:1"
			}
			test.change(&e)
			p := planner(t, append(objects, namespace())...)
			if test.gone {
				p.Fetch = func(context.Context, bundleio.Request) (*bundle.Bundle, error) {
					return nil, errors.New("the registry is gone")
				}
			}
			q := &Question{Objects: Objects{Extensions: []olmv1.ClusterExtension{e}},
				Catalogs: []Catalog{{Ref: catalog.Ref{Name: "demo"}, Source: filepath.Join(examples, "catalog", "guestbook-operator")}}}
			plan := must.Value(p.Plan(t.Context(), q, "greeter"))(t)
			if len(test.blocked) == 0 {
				if len(plan.Changed) != 1 || len(plan.Blocked) > 0 || plan.Wanted != plan.Installed || !strings.Contains(strings.Join(plan.Notes, "\n"), vanished) {
					t.Errorf("%+v", plan)
				}
				return
			}
			if plan.Changes() || plan.Wanted.Bundle != "" {
				t.Errorf("%+v", plan)
			}
			for _, want := range test.blocked {
				if got := strings.Join(plan.Blocked, "\n"); !strings.Contains(got, want) {
					t.Errorf("%q is not in %s", want, got)
				}
			}
		})
	}
}

func TestPlanOfWhatCannotBe(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*olmv1.ClusterExtension)
		objects []client.Object
		want    string
	}{
		"no such version": {change: func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.Version = "9.x" }, objects: []client.Object{namespace()}, want: "9.x"},
		"no namespace":    {want: `namespaces "ops" not found: create namespace ops`},
		"no account":      {change: func(e *olmv1.ClusterExtension) { e.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: "sa"} }, objects: []client.Object{namespace()}, want: `service account "sa" not found in namespace "ops": create it`},
		"a configuration": {change: func(e *olmv1.ClusterExtension) {
			e.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: "Inline", Inline: &apiextensionsv1.JSON{Raw: []byte(`{"nothing":1}`)}}
		}, objects: []client.Object{namespace()}, want: "nothing"},
		"something else": {objects: []client.Object{namespace(), &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "greetings.demo.fairlead.dev"}}}, want: "CustomResourceDefinition greetings.demo.fairlead.dev is wanted by ClusterExtension greeter but exists already, and nothing controls it"},
		"a lost revision": {change: func(e *olmv1.ClusterExtension) {
			e.Annotations = map[string]string{desired.RollbackToKey: "7"}
		}, objects: []client.Object{namespace()}, want: "asks for revision 7, which is not there: the 5 newest are kept"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, text := planned(t, planner(t, test.objects...), extension(test.change))
			if !strings.Contains(strings.Join(plan.Blocked, "\n"), test.want) || !strings.Contains(text, "blocked, so nothing would be written:\n") {
				t.Errorf("%q, want %q\n%s", plan.Blocked, test.want, text)
			}
		})
	}
}

// TestPlanAdoptsWhatWasKept: the definition that an earlier extension of the name has left is not in the way, nor is one of an earlier revision.
func TestPlanAdoptsWhatWasKept(t *testing.T) {
	kept := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "greetings.demo.fairlead.dev", Annotations: map[string]string{revision.KeptKey: revision.KeptOf("greeter", "before")}}}
	if plan, text := planned(t, planner(t, namespace(), kept), extension(nil)); strings.Contains(strings.Join(plan.Blocked, "\n"), "is wanted by") {
		t.Error(text)
	}
	kept.Annotations = nil
	ask := func(annotation string) (*ExtensionPlan, string) {
		return planned(t, planner(t, namespace(), kept.DeepCopy()), extension(func(e *olmv1.ClusterExtension) { e.Annotations = map[string]string{revision.AdoptKey: annotation} }))
	}
	const name = "CustomResourceDefinition greetings.demo.fairlead.dev"
	if plan, text := ask("true"); len(plan.Adopted) != 1 || strings.Contains(text, "is wanted by") || slices.Contains(plan.Added, name) || plan.Totals.Adopted != 1 || plan.Totals.Created != len(plan.Added) ||
		!strings.Contains(text, "adopted, since they exist and have no other owner: the fields that the bundle sets are overwritten, custom resources stay:\n  "+name+"\n") ||
		!strings.Contains(text, " created, 1 adopted\n") {
		t.Errorf("leave to adopt it is not taken:\n%s", text)
	}
	if _, text := ask("false"); !strings.Contains(text, "--namespace ops --adopt, which sets annotation operators.fairlead.dev/adopt-existing") || strings.Contains(text, "rename") {
		t.Errorf("it is not offered:\n%s", text)
	}
	const written = "with the ClusterExtension: set annotation operators.fairlead.dev/adopt-existing: \"true\" of ClusterExtension greeter where it is written"
	if _, text := planned(t, planner(t, namespace(), kept.DeepCopy()), extension(func(e *olmv1.ClusterExtension) { e.UID = "" })); !strings.Contains(text, written) {
		t.Errorf("it is not offered to one of a file:\n%s", text)
	}
	_, objects := installed(t, "1.0.0")
	for _, o := range objects {
		if crd, ok := o.(*apiextensionsv1.CustomResourceDefinition); ok {
			crd.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "web", Controller: new(true)}}
		}
	}
	if plan, text := planned(t, planner(t, append(objects, namespace())...), extension(nil)); !strings.Contains(strings.Join(plan.Blocked, "\n"), "is controlled by Deployment web") {
		t.Errorf("what another controller has taken from the extension is not in the way:\n%s", text)
	}
}

// TestPlanGivesEachRemedyOnce: what is in the way comes first, then each remedy, with its objects where there are several.
func TestPlanGivesEachRemedyOnce(t *testing.T) {
	const account, deployment = "ServiceAccount ops/greeter-operator", "Deployment ops/greeter-operator"
	const free = " is wanted by ClusterExtension greeter but exists already, and nothing controls it"
	meta := metav1.ObjectMeta{Namespace: "ops", Name: "greeter-operator"}
	helm := meta
	helm.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	helm.Annotations = map[string]string{"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "n"}
	for name, test := range map[string]struct {
		deployment metav1.ObjectMeta
		want       []string // what the lines begin with
	}{
		"one":     {meta, []string{account + free + "\n", deployment + free + "; to adopt what exists and has no owner, "}},
		"several": {helm, []string{account + free + "\n", deployment + " is wanted by ClusterExtension greeter but belongs to Helm release n/r\n", "of " + account + ": to adopt what exists and has no owner, ", "of " + deployment + ": to let Helm give it up, "}},
	} {
		t.Run(name, func(t *testing.T) {
			_, text := planned(t, planner(t, namespace(), &corev1.ServiceAccount{ObjectMeta: meta}, &appsv1.Deployment{ObjectMeta: test.deployment}), extension(nil))
			_, blocked, _ := strings.Cut(text, "\nblocked, so nothing would be written:\n")
			blocked, _, _ = strings.Cut(blocked, "\n\n")
			lines := strings.SplitAfter(blocked, "\n")
			must.Equal(t, "lines of "+blocked, len(lines), len(test.want))
			for i, want := range test.want {
				must.Equal(t, fmt.Sprintf("line %d of %s begins with %q", i, blocked, want), strings.HasPrefix(lines[i], "  "+want), true)
			}
		})
	}
}

// TestPlanOfAnImage: what an image has is compared, whatever catalogs have.
func TestPlanOfAnImage(t *testing.T) {
	ref := "registry.example.com/hotfix@sha256:" + strings.Repeat("a", 64)
	from := func(e *olmv1.ClusterExtension) { e.Annotations = map[string]string{snapshot.BundleImageKey: ref} }
	plan, text := planned(t, planner(t, namespace()), extension(from))
	if plan.Wanted != (PlannedVersion{Bundle: "greeter-operator.v1.0.0", Version: "1.0.0", Image: ref}) || len(plan.Blocked) > 0 {
		t.Errorf("%+v\n%s", plan.Wanted, text)
	}
	for _, wrong := range []func(*olmv1.ClusterExtension){
		func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.PackageName = "other" },
		func(e *olmv1.ClusterExtension) {
			e.Annotations[snapshot.BundleImageKey] = "registry.example.com/hotfix:v1"
		},
	} {
		plan, text = planned(t, planner(t, namespace()), extension(func(e *olmv1.ClusterExtension) { from(e); wrong(e) }))
		if len(plan.Blocked) != 1 || plan.Changes() {
			t.Errorf("%q\n%s", plan.Blocked, text)
		}
	}
}

func TestPlanOfARollback(t *testing.T) {
	e, objects := installed(t, "1.0.0")
	e.Annotations = map[string]string{desired.RollbackToKey: "1"}
	plan, text := planned(t, planner(t, append(objects, namespace())...), e)
	if plan.Changes() || len(plan.Blocked) != 0 || !strings.Contains(text, "revision 1 was rolled back to") {
		t.Errorf("%+v\n%s", plan, text)
	}
}

// TestPlanWithLostContent: what another revision has lost is noted; only what is installed, and what is to be rolled back to, is needed.
func TestPlanWithLostContent(t *testing.T) {
	gone := func(all []client.Object) []client.Object {
		return slices.DeleteFunc(all, func(o client.Object) bool { _, is := o.(*corev1.Secret); return is })
	}
	ask := func(e olmv1.ClusterExtension, objects []client.Object) (*ExtensionPlan, error) {
		q := &Question{Objects: Objects{Extensions: []olmv1.ClusterExtension{e}}, Catalogs: []Catalog{{Ref: catalog.Ref{Name: "demo"}, Source: filepath.Join(examples, "catalog")}}}
		return planner(t, append(objects, namespace())...).Plan(t.Context(), q, "greeter")
	}
	e, objects := installed(t, "1.0.0")
	old := must.Value(revision.Build(revision.Options{Extension: revision.Extension{Name: "greeter", UID: "ext", Namespace: "ops"}, Number: 2, SystemNamespace: "olm", Objects: []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "ops"}}}}}))(t)
	old.Set.Spec.LifecycleState = olmv1.LifecycleStateArchived
	if plan, err := ask(e, append(slices.Clone(objects), old.Set)); err != nil || !plan.Changes() || len(plan.Blocked) > 0 ||
		!strings.Contains(strings.Join(plan.Notes, "\n"), "revision 2 cannot be restored: its content is lost: Secret olm/greeter-2-") {
		t.Errorf("another revision is not needed: %+v, %v", plan, err)
	}
	for name, test := range map[string]struct {
		change func(*olmv1.ClusterExtension)
		want   []string
	}{
		"an upgrade": {want: []string{"compare greeter-operator.v1.1.0 with what is installed, revision 1: its content is lost: Secret olm/greeter-1-", " is not there; put back what is missing as it was, from a backup, or, to have a version with new content without a plan, fairlead upgrade greeter --version 1.1.0"}},
		"the same":   {change: func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.Version = "1.0.0" }, want: []string{"with what is installed, revision 1: its content is lost"}},
		"a way back": {change: func(e *olmv1.ClusterExtension) {
			e.Annotations = map[string]string{desired.RollbackToKey: "1"}
		}, want: []string{"read revision 1, which is to be restored: its content is lost: Secret olm/greeter-1-", "; put back what is missing as it was, from a backup, or follow the catalogs again with fairlead upgrade greeter"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := *e.DeepCopy()
			if test.change != nil {
				test.change(&e)
			}
			_, err := ask(e, gone(slices.Clone(objects)))
			for _, want := range test.want {
				must.Fail(t, "the call", err, want)
			}
		})
	}
	e.Spec.Source.Catalog.Version = "9.x"
	if plan, err := ask(e, gone(slices.Clone(objects))); err != nil || len(plan.Blocked) != 1 || plan.Installed.Version != "1.0.0" {
		t.Errorf("that nothing fits is told without the content: %+v, %v", plan, err)
	}
}

// TestPlanHasTheRolesThatAreMissing: what an account lacks can be applied as it is printed.
func TestPlanHasTheRolesThatAreMissing(t *testing.T) {
	named := func(e *olmv1.ClusterExtension) { e.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: "sa"} }
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "sa"}}
	plan, text := planned(t, planner(t, namespace(), account), extension(named))
	if !strings.Contains(strings.Join(plan.Blocked, ""), "requires the following permissions") || !strings.Contains(text, "fairlead plan greeter --missing-roles") {
		t.Errorf("%q\n%s", plan.Blocked, text)
	}
	must.Contain(t, "missing roles", plan.MissingRoles, "kind: ClusterRole\n", "kind: ClusterRoleBinding\n", "name: greeter-installer\n", "- kind: ServiceAccount\n  name: sa\n  namespace: ops\n")
	p := planner(t, namespace(), account)
	p.Command = "fairlead plan -f new.yaml"
	if _, text := planned(t, p, extension(named)); !strings.Contains(text, "granted with: fairlead plan -f new.yaml --missing-roles | kubectl auth reconcile -f -\n") {
		t.Errorf("the roles of a file are not to be had by the command:\n%s", text)
	}
	if plan, _ := planned(t, planner(t, namespace()), extension(named)); plan.RightsExamined {
		t.Error("the rights of an account that is not there were examined")
	}
	if plan, _ := planned(t, planner(t, namespace()), extension(nil)); !plan.RightsExamined {
		t.Error("who installs as the manager lacks nothing")
	}
}
