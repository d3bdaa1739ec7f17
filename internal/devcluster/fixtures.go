package devcluster

import (
	"context"
	"crypto/rand"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const fixtureTimeout = 30 * time.Second

// Namespace creates a namespace for a test, and begins to delete it when the test is over.
func Namespace(t testing.TB) string {
	t.Helper()
	client := fixtureClient(t)
	ctx, cancel := context.WithTimeout(t.Context(), fixtureTimeout)
	defer cancel()
	test := t.Name()
	const maxTest = 40
	name := notInNames.ReplaceAllString(strings.ToLower(test), "-")
	name = strings.Trim(name[:min(len(name), maxTest)], "-")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: (name + "-" + strings.ToLower(rand.Text()[:8]))}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		t.Fatalf("create a namespace: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), fixtureTimeout)
		defer cancel()
		if err := client.CoreV1().Namespaces().Delete(ctx, namespace.Name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete namespace %s: %v", namespace.Name, err)
		}
	})
	// Wait for what the controllers put into each namespace; pods are refused before.
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(namespace.Name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("wait for the default service account of namespace %s: %v", namespace.Name, err)
	}
	return namespace.Name
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Route makes the API server's calls to a simulated pod arrive at a server of the test until the test is over. From is the
// pod's IP, IP:PORT, or a Service in front of it, NAMESPACE/SERVICE or NAMESPACE/SERVICE:PORT; to is HOST:PORT on loopback.
// The test is skipped when another cluster is used, since its pods are real.
func Route(t testing.TB, from, to string) {
	t.Helper()
	e := fixtureEnvironment(t)
	if e.client == nil {
		t.Skipf("%s is set: a server of the test cannot take the place of a real pod", TestKubeconfigVariable)
	}
	remove, err := e.client.Route(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
}

func fixtureEnvironment(t testing.TB) *environmentOfTests {
	t.Helper()
	e, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func fixtureClient(t testing.TB) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(fixtureEnvironment(t).config)
	if err != nil {
		t.Fatalf("make a client of the tests' cluster: %v", err)
	}
	return client
}
