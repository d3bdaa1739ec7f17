package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

const (
	tenants        = 20
	eachTenant     = 5
	comesToRest    = 20 * time.Second
	memoryPatience = 5 * time.Minute
)

// BenchmarkMemory runs the manager's own program on a cluster with the catalog of all community operators and 100 Subscriptions in 20
// namespaces, waits until nothing changes any more, and prints the resident memory of the process then, and the most that it ever had,
// which is while the catalog is read for the first time. All bundles have an image in the cluster's registry, made for the purpose; the aim
// is 250 MB. The field's needs as much for its two operators, and 765 MB for the pod of the catalog.
func BenchmarkMemory(b *testing.B) {
	binary := harness.BuildManager(b)
	for b.Loop() {
		o := ownCluster(b)
		dir, what := bigcatalog.Dir(b)
		packages := o.relocate(dir)
		tree := must.Value(bundleio.CatalogTree(b.Context(), os.DirFS(dir), o.registry+"/catalogs/full:latest", nil))(b)
		// Run the program until the benchmark ends, and return its process.
		ctx, stop := context.WithCancel(context.Background())
		var log bytes.Buffer
		cmd := exec.CommandContext(ctx, binary, "--kubeconfig", o.kubeconfig, "--store", o.TempDir())
		cmd.Stderr = &log
		must.NoError(o, cmd.Start())
		o.Cleanup(func() {
			stop()
			_ = cmd.Wait() // it was killed
			if o.Failed() {
				o.Log(log.String())
			}
		})
		pid := cmd.Process.Pid
		o.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: manager.DefaultGlobalNamespace}}, catalogSource("full", tree.Ref, 15*time.Minute))
		for i := range tenants {
			namespace := fmt.Sprintf("tenant%d", i)
			o.namespace(namespace)
			for j := range eachTenant {
				p := packages[(i*eachTenant+j)*len(packages)/(tenants*eachTenant)]
				o.create(subscription(namespace, p.Name, p.DefaultChannel, "full"))
			}
		}
		verdicts := o.rest()
		b.Logf("%s; %v", what, verdicts)
		b.ReportMetric(float64(verdicts["Installed"]), "installed")
		b.ReportMetric(memoryOf(b, pid, "VmRSS"), "MB-resident")
		b.ReportMetric(memoryOf(b, pid, "VmHWM"), "MB-resident-peak")
	}
}

// relocate makes the bundles of a catalog have images in the cluster's registry, and pushes those at the heads of default channels. It
// returns the packages.
func (o *own) relocate(dir string) []*catalog.PackageInfo {
	o.Helper()
	must.NoError(o, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		documents := bytes.Split(content, []byte("\n---\n"))
		for i, document := range documents {
			documents[i] = o.relocated(document)
		}
		return os.WriteFile(path, bytes.Join(documents, []byte("\n---\n")), 0o600)
	}))
	c := must.Value(catalog.Load(o.Context(), os.DirFS(dir), catalog.LoadOptions{}))(o)
	x := must.Value(catalog.NewIndex(c, "relocated"))(o)
	var packages []*catalog.PackageInfo
	for _, name := range x.PackageNames() {
		p, _ := x.Package(name)
		channel, found := p.Channel(p.DefaultChannel)
		if !found {
			continue
		}
		head, _ := x.Bundle(name, channel.Head)
		o.pushBundleAs(strings.TrimPrefix(head.Image, o.registry+"/"), head.Name, name, head.VersionText)
		packages = append(packages, p)
	}
	return packages
}

// relocated is a document of a catalog; that of a bundle has another image.
func (o *own) relocated(document []byte) []byte {
	if !bytes.Contains(document, []byte("schema: olm.bundle")) {
		return document
	}
	lines := bytes.Split(document, []byte("\n"))
	field := func(name string) (value string, line int) {
		for i, l := range lines {
			if rest, is := bytes.CutPrefix(l, []byte(name+": ")); is {
				return strings.Trim(string(rest), `"'`), i
			}
		}
		return "", -1
	}
	name, _ := field("name")
	pkg, _ := field("package")
	if _, at := field("image"); at >= 0 {
		lines[at] = []byte("image: " + o.registry + "/bundles/" + strings.ToLower(pkg) + ":" + strings.ReplaceAll(name, "+", "_"))
	}
	return bytes.Join(lines, []byte("\n"))
}

// rest waits until the verdicts of the Subscriptions have not changed for a while, and counts them.
func (o *own) rest() map[string]int {
	o.Helper()
	var last string
	since := time.Now()
	for began := time.Now(); ; time.Sleep(time.Second) {
		var all v1alpha1.SubscriptionList
		must.NoError(o, o.List(o.Context(), &all))
		verdicts := map[string]int{}
		for i := range all.Items {
			verdicts[all.Items[i].Status.GetCondition("Ready").Reason]++
		}
		if now := fmt.Sprint(verdicts); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > comesToRest && verdicts["Installed"] > 0 {
			return verdicts
		}
		if time.Since(began) > memoryPatience {
			o.Fatalf("it does not come to rest: %v", verdicts)
		}
	}
}

// memoryOf reads a line about a process, in MB; zero where the system does not tell.
func memoryOf(b *testing.B, pid int, line string) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), line+":")
	var kilobytes float64
	_, _ = fmt.Sscanf(rest, "%f", &kilobytes)
	return kilobytes / 1024
}
