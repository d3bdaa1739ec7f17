package devcluster

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/test/must"
)

// hostProgram is the program that the shared cluster was started from. Tests of clusters of their own use it too.
func hostProgram(t testing.TB) string {
	t.Helper()
	if os.Getenv(TestKubeconfigVariable) != "" {
		t.Skipf("%s is set: no embedded cluster is wanted", TestKubeconfigVariable)
	}
	fixtureEnvironment(t)
	root, dir, err := sharedDir()
	must.NoError(t, err)
	program := must.Value(buildHost(t.Context(), root, dir))(t)
	return program
}

// startCluster runs a cluster whose supervisor is the test process.
func startCluster(t *testing.T, options Options) *Cluster {
	t.Helper()
	options.Executable = hostProgram(t)
	cluster := must.Value(Start(t.Context(), options))(t)
	t.Cleanup(cluster.Stop)
	return cluster
}

func clientOf(t *testing.T, cluster *Cluster) kubernetes.Interface {
	t.Helper()
	client := must.Value(kubernetes.NewForConfig(cluster.RESTConfig()))(t)
	return client
}

// modes checks that a directory and all in it are for the owner only.
func modes(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// alive is the subset of processes that still run.
func alive(status Status, startTimes map[int]string) []string {
	var found []string
	for _, c := range status.Components {
		start := startTimes[c.PID]
		now, err := processStartTime(c.PID)
		if err == nil && now == start {
			found = append(found, c.Name)
		}
	}
	return found
}
