package cli

import (
	"testing"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/shlex"
)

// TestCommandsThatAskForTheSame: the command lines that the console shows are understood, with the values that they were made of.
func TestCommandsThatAskForTheSame(t *testing.T) {
	for name, test := range map[string]struct {
		line string
		want map[string]string
	}{
		"v0": {ops.InstallOptions{Package: "etcd", Namespace: "ops", Catalog: "olm/c", Channel: "stable 1", StartingCSV: "etcd.v1", Manual: true, Targets: []string{"a", "b"}}.Command(),
			map[string]string{"namespace": "ops", "catalog": "olm/c", "channel": "stable 1", "starting-csv": "etcd.v1", "manual": "true", "watch": "[a,b]", "api": "v0"}},
		"v1": {ops.ExtensionOptions{Package: "etcd", Name: "mine", Namespace: "ops", Catalogs: []string{"c"}, Channels: []string{"stable"}, Version: ">=1.0.0 <2.0.0", ServiceAccount: "sa",
			Config: map[string]any{"a": 1}, CreateNamespace: true, Annotations: map[string]string{ops.DependenciesKey: "true", ops.OnFailureKey: ops.OnFailureRollback}}.Command(),
			map[string]string{"api": "v1", "name": "mine", "namespace": "ops", "catalog": "c", "channel": "stable", "version": ">=1.0.0 <2.0.0", "service-account": "sa", "config": "config.yaml",
				"create-namespace": "true", "install-dependencies": "true", "rollback-on-failure": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			words := must.Value(shlex.Split(test.line))(t)
			must.Equal(t, "the command", words[:2], []string{"fairlead", "install"})
			cmd := newInstallCommand(command.Streams{})
			must.NoError(t, cmd.ParseFlags(words[2:]))
			must.Equal(t, "the package", cmd.Flags().Args(), []string{"etcd"})
			for flag, want := range test.want {
				must.Equal(t, flag, cmd.Flag(flag).Value.String(), want)
			}
		})
	}
}
