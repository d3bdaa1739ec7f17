package ops

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// bare is a cluster with some objects.
func bare(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	s := must.Value(kubeconfig.Scheme())(t)
	return fake.NewClientBuilder().WithScheme(s).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(s)).WithObjects(objects...).Build()
}

// chosen are options with which a manager can be installed.
func chosen() SystemOptions {
	return SystemOptions{Image: "registry.example.com/fairlead-manager:v2", Namespace: "olm", Version: "v0.2.0", Replicas: 2, APIs: []string{"v0", "v1"}}
}

// byCommand is a manager that fairlead system has installed.
func byCommand(t *testing.T, o SystemOptions) *appsv1.Deployment {
	t.Helper()
	d := deploymentOf(must.Value(SystemManifests(o))(t))
	d.Status.AvailableReplicas = o.Replicas
	return d
}

// byHelm is one that Helm has installed.
func byHelm() *appsv1.Deployment {
	d := managerDeployment("olm", managerName)
	d.Annotations = map[string]string{"meta.helm.sh/release-name": "fairlead", "meta.helm.sh/release-namespace": "ops"}
	return d
}

// rivalDeployment is another lifecycle manager.
func rivalDeployment() *appsv1.Deployment {
	d := managerDeployment("olm", "catalog-operator")
	d.Labels = nil
	return d
}

func TestSystemOptionsAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*SystemOptions)
		want   string
	}{
		"no image":           {func(o *SystemOptions) { o.Image = "" }, `image "" of the manager: name one`},
		"two words":          {func(o *SystemOptions) { o.Image = "a b" }, `image "a b"`},
		"no pods":            {func(o *SystemOptions) { o.Replicas = 0 }, "kubectl -n olm scale deployment/fairlead-manager --replicas=0"},
		"no API":             {func(o *SystemOptions) { o.APIs = nil }, "choose v0, v1 or both"},
		"an unknown API":     {func(o *SystemOptions) { o.APIs = []string{"v0", "v2"} }, "choose v0, v1 or both"},
		"a value as a flag":  {func(o *SystemOptions) { o.Args = []string{"catalog-pods"} }, `argument "catalog-pods" of the manager`},
		"nothing is amiss":   {func(*SystemOptions) {}, ""},
		"an image by digest": {func(o *SystemOptions) { o.Image = "r.example.com/m@sha256:" + strings.Repeat("a", 64) }, ""},
	} {
		o := chosen()
		test.change(&o)
		_, err := SystemManifests(o)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOrderOfTheManifests: each object comes after those that it needs, and what a later version may remove has its mark, and nothing else.
func TestOrderOfTheManifests(t *testing.T) {
	last := -1
	for _, o := range must.Value(SystemManifests(chosen()))(t) {
		at := phaseOfKind(o.GetKind())
		if at < last || at < 0 {
			t.Errorf("%s %s is applied too late, or by no phase", o.GetKind(), o.GetName())
		}
		last = at
		known := slices.ContainsFunc(prunableKinds, func(k schema.GroupVersionKind) bool { return k.Kind == o.GetKind() })
		if marked := o.GetLabels()[systemLabel] == systemOwner; marked != known {
			t.Errorf("%s %s has the mark: %t; objects of its kind are removed: %t", o.GetKind(), o.GetName(), marked, known)
		}
	}
}

// TestRefusedSystems: what is refused, on which object, why, and what to do.
func TestRefusedSystems(t *testing.T) {
	install := func(t *testing.T, c client.Client) error {
		_, err := InstallSystem(t.Context(), c, chosen())
		return err
	}
	upgrade := func(t *testing.T, c client.Client) error {
		_, err := UpgradeSystem(t.Context(), c, "olm", false, func(o *SystemOptions) { o.Image, o.Version = chosen().Image, "v0.2.0" })
		return err
	}
	uninstall := func(t *testing.T, c client.Client) error {
		_, err := UninstallSystem(t.Context(), c, "olm", false)
		return err
	}
	older := chosen()
	older.Version = "v0.1.0"
	newer := chosen()
	newer.Version = "v0.3.0"
	for name, test := range map[string]struct {
		object client.Object
		do     func(*testing.T, client.Client) error
		want   []string
	}{
		"install beside another manager":    {rivalDeployment(), install, []string{"Deployment olm/catalog-operator", "works on the v0 API", "kubectl -n olm scale deployment catalog-operator --replicas=0", "--apis v1"}},
		"install what is in another place":  {managerDeployment("elsewhere", managerName), install, []string{"Deployment elsewhere/fairlead-manager", "fairlead system upgrade --manager-namespace elsewhere"}},
		"install over Helm":                 {byHelm(), install, []string{"Helm release ops/fairlead", "helm upgrade fairlead config/chart -n ops"}},
		"install over kubectl":              {managerDeployment("olm", managerName), install, []string{"installed already, by other means", "fairlead system upgrade"}},
		"install over another version":      {byCommand(t, older), install, []string{"of version v0.1.0", "fairlead system upgrade"}},
		"upgrade nothing":                   {nil, upgrade, []string{"no manager is installed", "fairlead system install"}},
		"upgrade Helm's":                    {byHelm(), upgrade, []string{"helm upgrade fairlead"}},
		"upgrade to an older one":           {byCommand(t, newer), upgrade, []string{"downgrade", "v0.3.0", "v0.2.0", "--allow-downgrade"}},
		"uninstall nothing":                 {nil, uninstall, []string{"nothing of it was installed", "docs/installing.md"}},
		"uninstall Helm's":                  {byHelm(), uninstall, []string{"helm uninstall fairlead -n ops"}},
		"uninstall what kubectl installed":  {managerDeployment("olm", managerName), uninstall, []string{"has not installed it", "fairlead system upgrade"}},
		"uninstall what is somewhere else":  {managerDeployment("elsewhere", managerName), uninstall, []string{"fairlead system uninstall --manager-namespace elsewhere"}},
		"upgrade what is somewhere else":    {managerDeployment("elsewhere", managerName), upgrade, []string{"fairlead system upgrade --manager-namespace elsewhere"}},
		"upgrade where another one is, too": {rivalDeployment(), upgrade, []string{"no manager is installed"}},
	} {
		var objects []client.Object
		if test.object != nil {
			objects = append(objects, test.object)
		}
		err := test.do(t, bare(t, objects...))
		if !errors.As(err, new(*RefusedError)) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range test.want {
			must.Contain(t, name, err.Error(), want)
		}
	}
}

// TestBesideAnotherManager: the API that it does not work on is free.
func TestBesideAnotherManager(t *testing.T) {
	o := chosen()
	o.APIs = []string{"v1"}
	must.Value(InstallSystem(t.Context(), bare(t, rivalDeployment()), o))(t)
}

// TestUpgradeGoesOnWithTheOptions: what is not said again stays, flags that people have added are named before they go, and objects that are of no use any more go.
func TestUpgradeGoesOnWithTheOptions(t *testing.T) {
	before := chosen()
	before.Version, before.Console, before.Replicas, before.Args = "v0.1.0", true, 3, []string{"--catalog-pods"}
	d := byCommand(t, before)
	d.Spec.Template.Spec.Containers[0].Args = append(d.Spec.Template.Spec.Containers[0].Args, "--catalog-max-memory=512Mi")
	service := &corev1.Service{ObjectMeta: named("olm", "fairlead-console")}
	service.Labels = map[string]string{systemLabel: systemOwner}
	users := &corev1.Service{ObjectMeta: named("olm", "someone-else")}
	c := bare(t, d, service, users)
	for _, console := range []bool{true, false} {
		s := must.Value(UpgradeSystem(t.Context(), c, "olm", false, func(o *SystemOptions) { o.Image, o.Version, o.Console = chosen().Image, "v0.2.0", console }))(t)
		must.Equal(t, "from", s.From, "v0.1.0")
		must.Equal(t, "replicas", s.Options.Replicas, int32(3))
		must.Equal(t, "arguments", s.Options.Args, []string{"--catalog-pods"})
		must.Equal(t, "notes", s.Notes, []string{"Deployment olm/fairlead-manager has the flag --catalog-max-memory=512Mi, which goes; to keep it: --manager-arg=--catalog-max-memory=512Mi"})
		var goes []string
		for _, ref := range s.Goes {
			goes = append(goes, ref.Kind+" "+ref.Name)
		}
		var want []string
		if !console {
			want = []string{"Service fairlead-console"}
		}
		must.Equal(t, "what goes", goes, want)
	}
}

// TestDowngradeByDefinitions: where versions cannot be compared, the fields of the cluster's definitions tell.
func TestDowngradeByDefinitions(t *testing.T) {
	definition := must.Value(shippedDefinitions())(t)[0].DeepCopy()
	o := chosen()
	o.Version = "(devel)"
	c := bare(t, byCommand(t, o), definition.DeepCopy())
	again := func(o *SystemOptions) { o.Image, o.Version = chosen().Image, "(devel)" }
	must.Value(UpgradeSystem(t.Context(), c, "olm", false, again))(t)

	spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.Properties["later"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	c = bare(t, byCommand(t, o), definition)
	_, err := UpgradeSystem(t.Context(), c, "olm", false, again)
	if !errors.As(err, new(*RefusedError)) {
		t.Fatalf("a downgrade: %v", err)
	}
	must.Contain(t, "the refusal", err.Error(), "CustomResourceDefinition "+definition.Name+": spec.later of version ")
	s := must.Value(UpgradeSystem(t.Context(), c, "olm", true, again))(t)
	must.Contain(t, "the notes of a downgrade that is wanted", strings.Join(s.Notes, "\n"), "downgrade: CustomResourceDefinition "+definition.Name)
}

// TestNoSecondOperatorGroup: a namespace that has an OperatorGroup gets no other one.
func TestNoSecondOperatorGroup(t *testing.T) {
	group := &operatorsv1.OperatorGroup{ObjectMeta: named("operators", "of-ours")}
	s := must.Value(InstallSystem(t.Context(), bare(t, group), chosen()))(t)
	var groups []string
	for _, o := range s.Objects {
		if o.GetKind() == operatorsv1.OperatorGroupKind {
			groups = append(groups, o.GetName())
		}
	}
	must.Equal(t, "OperatorGroups", groups, []string{"olm-operators"})
	must.Contain(t, "notes", strings.Join(s.Notes, "\n"), "namespace operators has OperatorGroup of-ours: global-operators is not made")
}

// TestManagerThatDoesNotRun: the error says why its pods do not, and what to do.
func TestManagerThatDoesNotRun(t *testing.T) {
	d := byCommand(t, chosen())
	d.CreationTimestamp.Time = time.Now().Add(-time.Minute)
	d.UID, d.Status = "of-the-deployment", appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1}
	pod := &corev1.Pod{ObjectMeta: named("olm", "fairlead-manager-1")}
	pod.Labels = map[string]string{"app": managerName}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "manager", Image: "registry.example.com/fairlead-manager:v2",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "manifest unknown"}}}}
	c := bare(t, d, pod)
	s := &SystemChange{Options: chosen(), Objects: must.Value(SystemManifests(chosen()))(t), client: c}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := s.available(ctx, func(string) {})
	if err == nil {
		t.Fatal("a manager without pods is called available")
	}
	for _, want := range []string{"deployment olm/fairlead-manager is applied, and is not available", "no pod is available yet", "kubectl -n olm logs -l app=fairlead-manager", "the same command again"} {
		must.Contain(t, "the error", err.Error(), want)
	}
	must.Contain(t, "the cause", err.Error(), "image registry.example.com/fairlead-manager:v2 cannot be pulled: manifest unknown")
}

// TestWhatUninstallLeaves: the definitions that have objects are listed with them, and without a manager no operator is deleted.
func TestWhatUninstallLeaves(t *testing.T) {
	definitions := must.Value(shippedDefinitions())(t)
	group := &operatorsv1.OperatorGroup{ObjectMeta: named("operators", "global-operators")}
	objects := []client.Object{byCommand(t, chosen()), group, &corev1.Namespace{ObjectMeta: named("", "olm")}}
	for _, d := range definitions {
		objects = append(objects, d.DeepCopy())
	}
	r := must.Value(UninstallSystem(t.Context(), bare(t, objects...), "olm", false))(t)
	var text strings.Builder
	must.NoError(t, r.Write(&text))
	for _, want := range []string{"Goes:\n  Deployment olm/fairlead-manager\n", "CustomResourceDefinition operatorgroups.operators.coreos.com: with it would go 1 OperatorGroup: operators/global-operators; --delete-crds removes it",
		"Namespace olm: others may have objects in it", "Operators run on"} {
		must.Contain(t, "what is shown", text.String(), want)
	}
	extension := &olmv1.ClusterExtension{ObjectMeta: named("", "kite")}
	stopped := byCommand(t, chosen())
	stopped.Status.AvailableReplicas = 0
	objects = append(objects[1:], stopped, extension)
	_, err := UninstallSystem(t.Context(), bare(t, objects...), "olm", true)
	if !errors.As(err, new(*RefusedError)) || !strings.Contains(err.Error(), "it has 1 ClusterExtension, and no manager runs") {
		t.Errorf("operators without a manager: %v", err)
	}
}
