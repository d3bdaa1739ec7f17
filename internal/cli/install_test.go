package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func cluster(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(olmv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), packagesv1.AddToScheme(scheme), corev1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&olmv1.ClusterExtension{}).Build()
}

// inCluster are the catalogs of a cluster, as far as no server and no registry is needed.
func inCluster(c client.Client) opener {
	return func(_ context.Context, do func(preview.BrowseCluster) error) error {
		return do(preview.BrowseCluster{Reader: c})
	}
}

// asked parses flags of `fairlead install --api v1` and runs it.
func asked(t *testing.T, c client.Client, both bothAPIs, flags ...string) (out, errs string, err error) {
	t.Helper()
	var i extensionInstall
	cmd := &cobra.Command{Use: "install", Args: cobra.NoArgs}
	i.flags(cmd)
	both.Output.Flag(cmd)
	cmd.Flags().BoolVar(&both.DryRun, "dry-run", false, "")
	must.NoError(t, cmd.ParseFlags(flags))
	both.catalogs = inCluster(c)
	var o, e bytes.Buffer
	if err = checkInstall(cmd, apiV1, &i, both); err == nil {
		err = i.run(t.Context(), command.Streams{In: strings.NewReader("deploymentConfig: {nodeSelector: {a: b}}"), Out: &o, Err: &e}, c, both)
	}
	return o.String(), e.String(), err
}

func TestInstall(t *testing.T) {
	both := bothAPIs{Package: "kite", Namespace: "ops", Channel: "stable,fast", Watch: []string{"a"}}
	objects := []client.Object{&olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "toys"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}}}
	c := cluster(t, objects...)
	out, _, err := asked(t, c, both, "--dry-run", "-o", "yaml", "--version", "1.x", "--install-dependencies", "--rollback-on-failure", "--config", "-", "--service-account", "", "--catalog-selector", "a notin (b)")
	for _, want := range []string{"packageName: kite", "version: 1.x", "- fast", "watchNamespace: a", "a: b", `operators.fairlead.dev/install-dependencies: "true"`, "operators.fairlead.dev/on-failure: rollback", "operator: NotIn"} {
		if !strings.Contains(out, want) {
			t.Errorf("the dry run has no %q:\n%s, %v", want, out, err)
		}
	}
	out, _, err = asked(t, c, both, "--dry-run")
	if out != "would create ClusterExtension kite\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	if out, _, err = asked(t, c, both); !strings.HasSuffix(out, "✓ created ClusterExtension kite\n") || err != nil {
		t.Errorf("%q, %v", out, err)
	}

	both.Wait = time.Minute
	e := &olmv1.ClusterExtension{}
	must.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "kite"}, e))
	e.Status.Install = &olmv1.ClusterExtensionInstallStatus{Bundle: olmv1.BundleMetadata{Name: "kite.v1.0.0", Version: "1.0.0"}}
	meta.SetStatusCondition(&e.Status.Conditions, olmv1.NewCondition(olmv1.TypeInstalled, "True", "Succeeded", ""))
	meta.SetStatusCondition(&e.Status.Conditions, olmv1.NewCondition(olmv1.TypeProgressing, "True", "Succeeded", ""))
	must.NoError(t, c.Status().Update(t.Context(), e))
	if out, _, err = asked(t, c, both); !strings.HasSuffix(out, "✓ installed kite 1.0.0 in namespace ops\n") || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	meta.SetStatusCondition(&e.Status.Conditions, olmv1.NewCondition(olmv1.TypeProgressing, "False", "Blocked", "no way"))
	must.NoError(t, c.Status().Update(t.Context(), e))
	out, _, err = asked(t, c, both)
	if err == nil || !strings.Contains(err.Error(), "Blocked: no way\nThe ClusterExtension stays") || !strings.HasSuffix(err.Error(), "To see the cause: fairlead plan kite. To give up: fairlead uninstall kite") {
		t.Errorf("%v", err)
	}
	for _, condition := range []metav1.Condition{olmv1.NewCondition(olmv1.TypeProgressing, "True", "Retrying", "no such channel"), olmv1.NewCondition("Ready", "False", "ChannelNotFound", ""), olmv1.NewCondition("Stalled", "True", "ChannelNotFound", "")} {
		meta.SetStatusCondition(&e.Status.Conditions, condition)
	}
	must.NoError(t, c.Status().Update(t.Context(), e))
	_, _, unresolved := asked(t, c, both)
	must.Fail(t, "install", unresolved, "ClusterExtension kite: ChannelNotFound: no such channel\n", "To see what to do: fairlead why kite. To give up: fairlead uninstall kite")
	if command.Code(err) != command.ExitNo || strings.Contains(out, "no way") {
		t.Errorf("exit code %d, and the reason is printed twice: %q", command.Code(err), out)
	}
}

func TestInstallRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list.yaml")
	must.NoError(t, os.WriteFile(file, []byte("[a]"), 0o600))
	for name, test := range map[string]struct {
		both  bothAPIs
		flags []string
		want  string
		code  int
	}{
		"a policy":      {flags: []string{"--upgrade-constraint-policy", "Any"}, want: "choose CatalogProvided or SelfCertified", code: command.ExitUsage},
		"a safety":      {flags: []string{"--crd-upgrade-safety", "Lax"}, want: "choose Strict or None", code: command.ExitUsage},
		"a selector":    {flags: []string{"--catalog-selector", "a in b"}, want: "--catalog-selector", code: command.ExitUsage},
		"a v0 catalog":  {both: bothAPIs{Catalog: "olm/c"}, want: "it has no namespace", code: command.ExitUsage},
		"a format":      {flags: []string{"-o", "xml"}, want: "choose text, json or yaml", code: command.ExitUsage},
		"no file":       {flags: []string{"--config", "/nonexistent"}, want: "read the configuration", code: command.ExitFailed},
		"no object":     {flags: []string{"--config", file}, want: "write an object", code: command.ExitFailed},
		"what is there": {flags: nil, want: "there is no ClusterCatalog; create one with fairlead catalog add", code: command.ExitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			test.both.Package, test.both.Namespace = "kite", "ops"
			_, _, err := asked(t, cluster(t), test.both, test.flags...)
			if err == nil || !strings.Contains(err.Error(), test.want) || command.Code(err) != test.code {
				t.Errorf("%v, exit code %d, want %d", err, command.Code(err), test.code)
			}
		})
	}
}
