package bench

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// Variables of the environment that change what is measured.
const (
	namespacesVariable = "FAIRLEAD_BENCH_NAMESPACES" // how many namespaces are made; 500 by default
	operatorsVariable  = "FAIRLEAD_BENCH_OPERATORS"  // how many operators watch them all; 4 by default
	idleVariable       = "FAIRLEAD_BENCH_IDLE"       // how long the manager is watched while nothing happens; 1m by default
)

// creators is how many namespaces are made at a time: as by somebody who runs a script.
const creators = 1

// patience is how long anything may take.
const patience = 20 * time.Minute

// BenchmarkFanOut starts operators that watch all namespaces, makes many namespaces, waits until each has a copy of each
// ClusterServiceVersion, and then watches the manager for a while:
//
//	go test ./test/bench -run '^$' -bench FanOut -benchtime 1x -timeout 1h
//
// It prints the seconds from the last namespace to the last copy, those that making the namespaces took, the processor time of
// the manager for all of it, the most memory that it had, and how much of a processor and how many writes it takes when idle.
func BenchmarkFanOut(b *testing.B) {
	namespaces, operators := number(b, namespacesVariable, 500), number(b, operatorsVariable, 4)
	kubeconfig, _ := startCluster(b)
	c := connect(b, kubeconfig)
	m := startManager(b, kubeconfig)
	for i := range operators {
		install(b, c, i)
	}
	for b.Loop() {
		before := m.cpu()
		arrived := awaitCopies(b, c, namespaces*operators)
		start := time.Now()
		makeNamespaces(b, c, namespaces)
		made := time.Now()
		select {
		case at := <-arrived:
			b.ReportMetric(max(at.Sub(made).Seconds(), 0), "s-to-last-copy")
		case <-time.After(patience):
			b.Fatal("there are copies missing")
		}
		b.ReportMetric(made.Sub(start).Seconds(), "s-to-make-namespaces")
		b.ReportMetric((m.cpu() - before).Seconds(), "s-CPU")
		b.ReportMetric(m.memory("VmHWM"), "MB-peak")
	}
	time.Sleep(10 * time.Second) // for what follows the last copies
	idle(b, m)
	b.ReportMetric(m.memory("VmRSS"), "MB-idle")
}

func idle(b *testing.B, m *process) {
	b.Helper()
	length := time.Minute
	if text := os.Getenv(idleVariable); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			b.Fatalf("%s: %v", idleVariable, err)
		}
	}
	cpu, writes := m.cpu(), m.writes()
	time.Sleep(length)
	b.ReportMetric(100*(m.cpu()-cpu).Seconds()/length.Seconds(), "%CPU-idle")
	b.ReportMetric(m.writes()-writes, "writes-idle")
}

func number(b *testing.B, variable string, otherwise int) int {
	b.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("%s is %q, want a number from 1", variable, text)
	}
	return n
}

func connect(b *testing.B, kubeconfig string) client.WithWatch {
	b.Helper()
	config := must.Value(clientcmd.BuildConfigFromFlags("", kubeconfig))(b)
	config.QPS = -1
	return harness.Client(b, config)
}

// install makes an operator that watches all namespaces, and waits until it runs.
func install(b *testing.B, c client.Client, i int) {
	b.Helper()
	name := fmt.Sprintf("operator-%d", i)
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name + ".v1.0.0"}}
	csv.Spec.DisplayName, csv.Spec.Description = name, strings.Repeat("What it does, in many words. ", 300)
	csv.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeAllNamespaces, Supported: true}}
	labels := map[string]string{"app": name}
	csv.Spec.InstallStrategy = v1alpha1.NamedInstallStrategy{StrategyName: "deployment", StrategySpec: v1alpha1.StrategyDetailsDeployment{
		DeploymentSpecs: []v1alpha1.StrategyDeploymentSpec{{Name: name, Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "example.com/manager:1"}}}},
		}}},
	}}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
		&v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "all"}},
		csv,
	} {
		must.NoErrorf(b, c.Create(b.Context(), o), "create %T", o)
	}
	awaitSucceeded(b, c, csv)
}

// awaitSucceeded waits until an operator runs.
func awaitSucceeded(b *testing.B, c client.Client, csv *v1alpha1.ClusterServiceVersion) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	for csv.Status.Phase != v1alpha1.CSVPhaseSucceeded {
		time.Sleep(100 * time.Millisecond)
		must.NoErrorf(b, c.Get(ctx, client.ObjectKeyFromObject(csv), csv), "wait for operator %s, which is %s (%s)", csv.Name, csv.Status.Phase, csv.Status.Message)
	}
}

func makeNamespaces(b *testing.B, c client.Client, count int) {
	b.Helper()
	names := make(chan string)
	var group sync.WaitGroup
	for range creators {
		group.Go(func() {
			for name := range names {
				if err := c.Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
					b.Errorf("create namespace %s: %v", name, err)
				}
			}
		})
	}
	for i := range count {
		names <- fmt.Sprintf("tenant-%05d", i)
	}
	close(names)
	group.Wait()
}

// awaitCopies tells when there are as many copies, with their status, in the namespaces of tenants.
func awaitCopies(b *testing.B, c client.WithWatch, count int) <-chan time.Time {
	b.Helper()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind + "List"))
	w, err := c.Watch(b.Context(), list, client.HasLabels{v1alpha1.CopiedFromLabel})
	must.NoErrorf(b, err, "watch the copies")
	arrived := make(chan time.Time, 1)
	go func() {
		defer w.Stop()
		done := map[string]bool{}
		for e := range w.ResultChan() {
			copied, ok := e.Object.(*metav1.PartialObjectMetadata)
			if !ok || e.Type == watch.Deleted || !strings.HasPrefix(copied.Namespace, "tenant-") || !hasStatus(copied) {
				continue
			}
			done[copied.Namespace+"/"+copied.Name] = true
			if len(done) == count {
				arrived <- time.Now()
				return
			}
		}
	}()
	return arrived
}

func hasStatus(o *metav1.PartialObjectMetadata) bool {
	for _, entry := range o.ManagedFields {
		if entry.Subresource == "status" {
			return true
		}
	}
	return false
}
