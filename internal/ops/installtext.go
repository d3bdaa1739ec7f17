package ops

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/internal/messages"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Manifests are objects as YAML, to be applied in this order, without what only a cluster knows.
func Manifests(objects []client.Object) (string, error) {
	var b strings.Builder
	for i, object := range objects {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return "", fmt.Errorf("write %s %s as YAML: %w", object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), err)
		}
		delete(content, "status")
		if metadata, ok := content["metadata"].(map[string]any); ok {
			delete(metadata, "creationTimestamp")
		}
		for key, value := range content {
			if fields, ok := value.(map[string]any); ok && len(fields) == 0 {
				delete(content, key)
			}
		}
		text, err := messages.YAML(content)
		if err != nil {
			return "", fmt.Errorf("write %s %s as YAML: %w", object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), err)
		}
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(text)
	}
	return b.String(), nil
}

// line is a command line of flags that have a value.
func line(command string, flags ...[2]string) string {
	parts := []string{command}
	for _, flag := range flags {
		if flag[1] != "" {
			parts = append(parts, flag[0], messages.Quoted(flag[1]))
		}
	}
	return strings.Join(parts, " ")
}

// Command is the command line that asks for the same.
func (o InstallOptions) Command() string {
	command := line("fairlead install "+messages.Quoted(o.Package), [2]string{"--namespace", o.Namespace}, [2]string{"--catalog", o.Catalog}, [2]string{"--channel", o.Channel},
		[2]string{"--starting-csv", o.StartingCSV}, [2]string{"--watch", strings.Join(o.Targets, ",")})
	if o.Manual {
		command += " --manual"
	}
	return command
}

// Command is the command line that asks for the same. A configuration is read from config.yaml.
func (o ExtensionOptions) Command() string {
	config := ""
	if len(o.Config) > 0 {
		config = "config.yaml"
	}
	command := line("fairlead install "+messages.Quoted(o.Package)+" --api v1", [2]string{"--name", o.Name}, [2]string{"--namespace", o.Namespace}, [2]string{"--catalog", strings.Join(o.Catalogs, ",")},
		[2]string{"--channel", strings.Join(o.Channels, ",")}, [2]string{"--version", o.Version}, [2]string{"--service-account", o.ServiceAccount}, [2]string{"--config", config},
		[2]string{"--watch", strings.Join(o.Watch, ",")})
	flags := map[string]bool{"--create-namespace": o.CreateNamespace, "--install-dependencies": o.Annotations[DependenciesKey] == "true", "--rollback-on-failure": o.Annotations[OnFailureKey] == OnFailureRollback}
	for _, flag := range []string{"--create-namespace", "--install-dependencies", "--rollback-on-failure"} {
		if flags[flag] {
			command += " " + flag
		}
	}
	return command
}
