package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/must"
)

// packagesPatience is how long the catalog may take to be served.
const packagesPatience = 5 * time.Minute

// BenchmarkPackages lists the packages of the catalog of all community operators as clients do, through the API server, and prints the
// milliseconds that a list takes: as the objects, and as the table that kubectl prints; and, of the objects, what of that is on the server's side:
// the same answer as it comes, compressed, and one that is not compressed at all. The aim is 50 ms, in which nothing is converted for
// the first time any more; docs/packagemanifests.md says what that costs.
func BenchmarkPackages(b *testing.B) {
	o := ownCluster(b)
	dir, what := bigcatalog.Dir(b)
	tree := must.Value(bundleio.CatalogTree(b.Context(), os.DirFS(dir), o.registry+"/catalogs/full:latest", nil))(b)
	o.manage(manager.Options{Config: o.config})
	o.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: manager.DefaultGlobalNamespace}}, catalogSource("full", tree.Ref, 0))
	transport := must.Value(rest.HTTPClientFor(o.config))(b)
	const objects = "application/json"
	forms := map[string]string{"objects": objects, "table": "application/json;as=Table;v=v1;g=meta.k8s.io"}
	must.EventuallyWithin(o, "all packages to be listed", packagesPatience, func() error {
		for form, accept := range forms {
			content, err := listPackages(b, transport, o.config.Host, accept, "")
			if err != nil {
				return fmt.Errorf("%s: %w", form, err)
			}
			var list struct{ Items, Rows []json.RawMessage }
			if err := json.Unmarshal(content, &list); err != nil {
				return fmt.Errorf("%s: %w", form, err)
			}
			if n := len(list.Items) + len(list.Rows); n != bigcatalog.Full.Packages {
				return fmt.Errorf("%s: %d packages", form, n)
			}
		}
		return nil
	})
	for form, headers := range map[string][2]string{
		"objects": {forms["objects"]}, "table": {forms["table"]}, "objects as they come": {objects, "gzip"}, "objects uncompressed": {objects, "identity"},
	} {
		b.Run(form, func(b *testing.B) {
			size := 0
			for b.Loop() {
				content := must.Value(listPackages(b, transport, o.config.Host, headers[0], headers[1]))(b)
				size = len(content)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/list")
			b.ReportMetric(float64(size)/1e6, "MB")
			b.Logf("%s; to beat: our own bound, 50 ms", what)
		})
	}
}

// listPackages asks for all packages in a form. Without an encoding the client takes what it can undo, and undoes it, as clients do.
func listPackages(b *testing.B, c *http.Client, host, accept, encoding string) ([]byte, error) {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, host+"/apis/packages.operators.coreos.com/v1/packagemanifests", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	if encoding != "" {
		request.Header.Set("Accept-Encoding", encoding)
	}
	response, err := c.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", response.Status, content)
	}
	return content, err
}
