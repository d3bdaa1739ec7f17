package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"

	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var screenshots = flag.Bool("screenshots", false, "write the pictures of docs/console.md")

// largestPicture is how many bytes a picture of the documentation may have.
const largestPicture = 250_000

// shot writes what a window of some height shows as a picture of docs/console.md.
func (p *tab) shot(name string, height int64) {
	p.Helper()
	p.size(1280, height)
	p.do(chromedp.MouseClickXY(1, 1)) // nothing has the focus
	must.EventuallyWithin(p, "the pictures of "+p.at()+" to be there", patience, func() error {
		if n := value[int](p, `[...document.images].filter(i => i.getBoundingClientRect().top < innerHeight && !(i.complete && i.naturalWidth)).length`); n > 0 {
			return fmt.Errorf("%d are not", n)
		}
		return nil
	})
	value[float64](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))), 0`)
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	must.NoErrorf(p, err, "take a picture of %s", p.at())
	if len(picture) > largestPicture {
		p.Errorf("the picture of %s has %d bytes, and may have %d", p.at(), len(picture), largestPicture)
	}
	dir := filepath.Join("..", "..", "docs", "images")
	must.NoError(p, os.MkdirAll(dir, 0o755))
	must.NoError(p, os.WriteFile(filepath.Join(dir, "console-"+name+".png"), picture, 0o644))
}

// TestPictures takes the pictures of docs/console.md, of operators of both APIs: some work, one waits for approval, and one fails.
func TestPictures(t *testing.T) {
	if !*screenshots {
		t.Skip("the pictures of docs/console.md are written where -screenshots asks for them")
	}
	w := newWorld(t)
	w.community()
	for _, namespace := range []string{"monitoring", "messaging", "secrets", "identity", "apps"} {
		w.Make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
	w.Make(extension("secrets", "external-secrets-operator", ""), extension("identity", "keycloak-operator", "26.7.1"))
	w.watchesItself("monitoring")
	w.Make(subscription("monitoring", "grafana-operator", "grafana-operator.v5.22.2", v1alpha1.ApprovalManual),
		subscription("messaging", "strimzi-kafka-operator", "", v1alpha1.ApprovalAutomatic), subscription("messaging", "rabbitmq-cluster-operator", "", v1alpha1.ApprovalAutomatic))
	w.watchesAll("messaging")

	p := w.open(devcluster.Config())
	p.open("/catalog")
	p.sees("331 packages")
	p.open("/approvals?namespace=monitoring")
	p.sees("grafana-operator.v5.22.2")
	p.press("Approve install-")
	p.sees("Approved ")
	p.open("/installed")
	p.sees("5.22.2", "26.7.1")
	w.changes("keycloak-operator", "26.7.2")

	p.open("/operator/ClusterExtension/identity/keycloak-operator")
	p.sees("Pod keycloak-operator-", "didn't match Pod's node affinity/selector")
	p.lacks("is rolling out. What to do")
	p.shot("operator", 1250)
	p.open("/catalog?category=Streaming+%26+Messaging")
	p.sees("of 331 packages", "installed 1.2.0")
	p.shot("catalog", 900)
	p.open("/package/strimzi-kafka-operator?namespace=apps&catalog=olm/community")
	p.sees("Upgrade graph of channel", "would be installed, from channel")
	p.shot("package", 1000)
	p.open("/install?package=service-binding-operator&api=v0&namespace=apps&approval=manual&catalog=olm/community")
	p.sees("The same by hand")
	p.shot("install", 1100)
	p.open("/approvals?namespace=monitoring")
	p.sees("What changes for grafana-operator.v5.24.0", "One change waits for you")
	p.shot("approvals", 900)
	p.open("/installed")
	p.sees("grafana-operator", "strimzi", "rabbitmq", "external-secrets", "waits for approval")
	p.lacks("its phase is Installing")
	p.shot("installed", 1000)
	p.open("/why?kind=why-not&name=grafana-operator&version=5.24.1&namespace=monitoring")
	p.sees("The same as text")
	p.shot("why", 640)
	p.open("/sources")
	p.sees("serves")
	p.shot("sources", 700)
}

func subscription(namespace, name, starting string, approval v1alpha1.Approval) *v1alpha1.Subscription {
	return &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: &v1alpha1.SubscriptionSpec{
		CatalogSource: "community", CatalogSourceNamespace: global, Package: name, StartingCSV: starting, InstallPlanApproval: approval}}
}

func extension(namespace, name, version string) *olmv1.ClusterExtension {
	return &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: olmv1.ClusterExtensionSpec{Namespace: namespace,
		Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: name, Version: version}}}}
}

// changes asks for another version of a ClusterExtension.
func (w *world) changes(name, version string) {
	w.Helper()
	w.Eventually("another version to be asked for", func() error {
		e := &olmv1.ClusterExtension{}
		if err := w.Get(context.WithoutCancel(w.Context()), client.ObjectKey{Name: name}, e); err != nil {
			return err
		}
		e.Spec.Source.Catalog.Version = version
		return w.Update(w.Context(), e)
	})
}
