package ops

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/crds"
	"fairlead.dev/fairlead/config"
	"fairlead.dev/fairlead/internal/rollout"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	// shippedNamespace is the namespace that the manifests are written for.
	shippedNamespace = "olm"
	// systemLabel marks the objects that a later installation may remove when it has no use for them: those of the manager. Namespaces,
	// CustomResourceDefinitions and what users change do not have it.
	systemLabel = "operators.fairlead.dev/installed-by"
	systemOwner = "fairlead-system"
	// systemVersion and systemOptions are annotations of the Deployment: the version of the program that installed it, and with which options.
	systemVersion = "operators.fairlead.dev/installed-version"
	systemOptions = "operators.fairlead.dev/install-options"
)

// SystemOptions say how a manager is installed. They are kept with its Deployment, so that an upgrade continues with them.
type SystemOptions struct {
	// Image is that of the manager. It is not kept: each version has its own.
	Image string `json:"-"`
	// Namespace is that of the manager, and of the catalogs that all namespaces see.
	Namespace string `json:"-"`
	// Version is that of the program that installs.
	Version  string `json:"-"`
	Replicas int32  `json:"replicas"`
	Console  bool   `json:"console,omitempty"`
	// APIs are those that the manager works on: v0, v1 or both.
	APIs []string `json:"apis"`
	// Args are more flags of the manager.
	Args []string `json:"args,omitempty"`
}

// systemPhases are the kinds of the manifests in the order in which they are applied: what others need comes first. The policies of the v1 API are in force
// before a manager works on it.
var systemPhases = []struct {
	name  string
	kinds []string
}{
	{"CustomResourceDefinitions", []string{"CustomResourceDefinition"}},
	{"namespaces", []string{"Namespace"}},
	{"service account, roles and bindings", []string{"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}},
	{"admission policies", []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}},
	{"manager", []string{"Deployment", "PodDisruptionBudget", "Service", "NetworkPolicy"}},
	{"OLMConfig and OperatorGroups", []string{"OLMConfig", "OperatorGroup"}},
}

// phaseOfKind is where in systemPhases a kind is; -1 for one that the manifests do not have.
func phaseOfKind(kind string) int {
	for i, phase := range systemPhases {
		if slices.Contains(phase.kinds, kind) {
			return i
		}
	}
	return -1
}

// Check refuses options that no manager can be installed with.
func (o SystemOptions) Check() error {
	switch {
	case o.Image == "" || strings.ContainsAny(o.Image, " \t\n"):
		return fmt.Errorf("image %q of the manager: name one, such as registry.example.com/fairlead-manager:v1", o.Image)
	case o.Replicas < 1:
		return fmt.Errorf("%d replicas: a manager that works has one or more; to stop it for a while: kubectl -n %s scale deployment/%s --replicas=0", o.Replicas, o.Namespace, managerName)
	case len(o.APIs) == 0 || slices.ContainsFunc(o.APIs, func(api string) bool { return api != "v0" && api != "v1" }):
		return fmt.Errorf("APIs %q: choose v0, v1 or both", o.APIs)
	}
	for _, arg := range o.Args {
		if !strings.HasPrefix(arg, "--") {
			return fmt.Errorf("argument %q of the manager: give a flag with its value, such as --catalog-max-memory=512Mi", arg)
		}
	}
	return nil
}

// SystemManifests are all objects of an installation, in the order in which they are applied: the CustomResourceDefinitions of this program, and what the
// kustomizations in config make.
func SystemManifests(o SystemOptions) ([]*unstructured.Unstructured, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	definitions, err := crds.All()
	if err != nil {
		return nil, err
	}
	for _, d := range definitions {
		d.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		rendered, err := rollout.Render(d)
		if err != nil {
			return nil, err
		}
		all = append(all, rendered)
	}
	made, err := kustomized(o)
	if err != nil {
		return nil, fmt.Errorf("make the manifests that this program has embedded: %w", err)
	}
	for _, object := range made {
		if err := o.complete(object); err != nil {
			return nil, fmt.Errorf("make %s %s of the manifests that this program has embedded: %w", object.GetKind(), object.GetName(), err)
		}
	}
	all = append(all, made...)
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int { return phaseOfKind(a.GetKind()) - phaseOfKind(b.GetKind()) })
	return all, nil
}

// kustomized is what kubectl kustomize makes of config and config/defaults, with the components that the options ask for.
func kustomized(o SystemOptions) ([]*unstructured.Unstructured, error) {
	files := filesys.MakeFsInMemory()
	err := fs.WalkDir(config.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := config.Files.ReadFile(name)
		if err != nil {
			return err
		}
		return files.WriteFile(path.Join("/config", name), content)
	})
	if err != nil {
		return nil, err
	}
	overlay := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../config, ../config/defaults]\ncomponents:\n"
	if o.Console {
		overlay += "- ../config/console\n"
	}
	if !slices.Contains(o.APIs, "v1") {
		overlay += "- ../config/profiles/v0\n"
	}
	if err := files.WriteFile("/overlay/kustomization.yaml", []byte(overlay)); err != nil {
		return nil, err
	}
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/overlay")
	if err != nil {
		return nil, err
	}
	text, err := made.AsYaml()
	if err != nil {
		return nil, err
	}
	return documents(text)
}

// documents are the objects of a YAML text.
func documents(text []byte) (all []*unstructured.Unstructured, _ error) {
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := yaml.YAMLToJSON(document)
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(content); err != nil { // with whole numbers, as the API server has them
			return nil, err
		}
		all = append(all, object)
	}
}

// complete gives an object what the options say, and the marks by which it is found again.
func (o SystemOptions) complete(object *unstructured.Unstructured) error {
	object.Object = inNamespace(object.Object, o.Namespace).(map[string]any)
	if prunable(object.GetKind()) {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[systemLabel] = systemOwner
		object.SetLabels(labels)
	}
	if object.GetKind() != "Deployment" {
		return nil
	}
	kept, err := json.Marshal(o)
	if err != nil {
		return err
	}
	annotations := map[string]string{systemOptions: string(kept)}
	if o.Version != "" {
		annotations[systemVersion] = o.Version
	}
	object.SetAnnotations(annotations)
	containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	if err != nil {
		return err
	}
	if len(containers) != 1 {
		return fmt.Errorf("it has %d containers, and the manager is the only one", len(containers))
	}
	container, _ := containers[0].(map[string]any)
	container["image"] = o.Image
	args, _, err := unstructured.NestedStringSlice(container, "args")
	if err != nil {
		return err
	}
	if !slices.Contains(o.APIs, "v0") {
		args = append(args, "--apis=v1")
	}
	if err := unstructured.SetNestedStringSlice(container, append(args, o.Args...), "args"); err != nil {
		return err
	}
	return errors.Join(unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers"),
		unstructured.SetNestedField(object.Object, int64(o.Replicas), "spec", "replicas"))
}

// prunable reports whether objects of a kind are the manager's alone, so that one which is of no use any more goes.
func prunable(kind string) bool {
	i := phaseOfKind(kind)
	return i >= 0 && !slices.Contains([]string{"CustomResourceDefinition", "Namespace", "OLMConfig", "OperatorGroup"}, kind)
}

// inNamespace is a part of an object as it is in another namespace than the shipped one: wherever that is the value of a field, or named in a flag or in an
// expression as that of the service account.
func inNamespace(part any, namespace string) any {
	const account = "system:serviceaccount:"
	switch part := part.(type) {
	case map[string]any:
		for name, value := range part {
			part[name] = inNamespace(value, namespace)
		}
	case []any:
		for i, value := range part {
			part[i] = inNamespace(value, namespace)
		}
	case string:
		switch part {
		case shippedNamespace:
			return namespace
		case "--global-namespace=" + shippedNamespace:
			return "--global-namespace=" + namespace
		}
		return strings.ReplaceAll(part, account+shippedNamespace+":", account+namespace+":")
	}
	return part
}
