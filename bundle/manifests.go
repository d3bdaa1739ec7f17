package bundle

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// decoded is what a manifest file turned out to be: an object, something to pass over, or an error.
type decoded struct {
	object   *unstructured.Unstructured
	warnings []error
	err      error
}

// readManifests decodes the files and sorts their objects into the ClusterServiceVersion and the others.
func (in *Inspection) readManifests(files []file, lim limits) {
	for _, f := range files {
		in.Manifests = append(in.Manifests, File{Name: f.name, Data: f.data})
	}
	if err := lim.checkTotalTokens(files); err != nil {
		in.fail("", err)
		return
	}
	all := decodeAll(files, lim)
	if slices.ContainsFunc(all, func(d decoded) bool { return errors.Is(d.err, errTotalValues) }) {
		in.fail("", fmt.Errorf("read manifests: more than %d values in all, aliases expanded", lim.totalValues))
		return
	}
	for i, d := range all {
		name := files[i].name
		for _, warning := range d.warnings {
			in.notice(name, warning)
			if errors.Is(warning, errNoAPIVersion) {
				in.Bundle.incomplete = append(in.Bundle.incomplete, name)
			}
		}
		if d.err != nil {
			in.fail(name, d.err)
			continue
		}
		in.Manifests[i].Object = d.object
		b := in.Bundle
		switch {
		case d.object == nil:
		case d.object.GetKind() != v1alpha1.ClusterServiceVersionKind:
			b.Objects = append(b.Objects, d.object)
		case b.manifest != nil:
			in.fail(name, markf(ErrSecondCSV, "a second ClusterServiceVersion, %s besides %s; a bundle has one", d.object.GetName(), b.manifest.GetName()))
		default:
			in.takeCSV(name, d.object)
		}
	}
	// A file that could not be read may be the ClusterServiceVersion.
	unread := func(d decoded) bool { return d.err != nil && !errors.Is(d.err, ErrUnsupportedKind) }
	if in.Bundle.manifest == nil && !slices.ContainsFunc(all, unread) {
		in.fail("", markf(ErrNoCSV, "read manifests: none of the files is a ClusterServiceVersion"))
	}
}

// errNoAPIVersion is the notice of a manifest that says what it is and not in which version.
var errNoAPIVersion = markf(ErrNotObject, "passed over: not a Kubernetes object with apiVersion and kind")

// decodeAll decodes files side by side. Results stand in the order of the files.
func decodeAll(files []file, lim limits) []decoded {
	lim.used = new(atomic.Int64)
	out := make([]decoded, len(files))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(len(files), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				out[i] = decode(files[i], lim)
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

// decode reads the object of a manifest file. A file without a Kubernetes object is passed over, as long as it is not
// YAML or JSON with errors in it: of those no one can tell what would be missing.
func decode(f file, lim limits) decoded {
	value, warnings, err := decodeValue(f, lim)
	if err != nil && !isManifestName(f.name) && !errors.Is(err, errTotalValues) {
		return decoded{warnings: []error{markf(ErrNotObject, "passed over: neither YAML nor JSON")}}
	}
	if err != nil {
		return decoded{err: err}
	}
	object, ok := value.(map[string]any)
	if ok && object["kind"] == v1alpha1.ClusterServiceVersionKind && object["apiVersion"] == nil {
		return decoded{err: markf(ErrNoCSV, "missing APIVersion: the ClusterServiceVersion has no apiVersion; write apiVersion: %s", v1alpha1.GroupVersion)}
	}
	if ok && object["kind"] != nil && object["apiVersion"] == nil {
		return decoded{warnings: []error{errNoAPIVersion}}
	}
	if !ok || object["kind"] == nil {
		return decoded{warnings: []error{markf(ErrNotObject, "passed over: not a Kubernetes object with apiVersion and kind")}}
	}
	d := decoded{object: &unstructured.Unstructured{Object: object}, warnings: warnings}
	kind, isText := object["kind"].(string)
	_, hasVersion := object["apiVersion"].(string)
	_, supported := supportedKinds[kind]
	metadata, hasMetadata := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	switch { // everything later relies on these
	case !isText || !hasVersion:
		d.err = errors.New("apiVersion and kind have to be texts")
	case !supported:
		d.err = markf(ErrUnsupportedKind, "kind %s is not supported in bundles; supported are %s", kind, strings.Join(SupportedKinds(), ", "))
	case !hasMetadata:
		d.err = fmt.Errorf("%s without metadata; give it a name", kind)
	case name == "":
		d.err = fmt.Errorf("%s without metadata.name; give it a name", kind)
	}
	return d
}

func decodeValue(f file, lim limits) (value any, warnings []error, err error) {
	doc, err := parse(f.data, lim)
	if err != nil {
		return nil, nil, err
	}
	return doc.value()
}

// Decode reads the object in a manifest file, within the limits of bundles.
func Decode(f File) (*unstructured.Unstructured, error) {
	d := decode(file{name: f.Name, data: f.Data}, defaultLimits)
	switch {
	case d.err != nil:
		return nil, fmt.Errorf("read %s: %w", f.Name, d.err)
	case d.object == nil:
		return nil, fmt.Errorf("read %s: %w", f.Name, errors.Join(d.warnings...))
	}
	return d.object, nil
}

const (
	crdKind    = "CustomResourceDefinition"
	secretKind = "Secret"
)

// supportedKinds are the kinds that a bundle may hold, whatever their group, and whether they live in a namespace.
var supportedKinds = map[string]bool{
	v1alpha1.ClusterServiceVersionKind: true,
	crdKind:                            false,
	"ClusterRole":                      false,
	"ClusterRoleBinding":               false,
	"ConfigMap":                        true,
	"ConsoleCLIDownload":               false,
	"ConsoleLink":                      false,
	"ConsolePlugin":                    false,
	"ConsoleQuickStart":                false,
	"ConsoleYAMLSample":                false,
	"NetworkPolicy":                    true,
	"PodDisruptionBudget":              true,
	"PodMonitor":                       true,
	"PriorityClass":                    false,
	"PrometheusRule":                   true,
	"Role":                             true,
	"RoleBinding":                      true,
	secretKind:                         true,
	"Service":                          true,
	"ServiceAccount":                   true,
	"ServiceMonitor":                   true,
	"VerticalPodAutoscaler":            true,
}

// SupportedKinds are the kinds that a bundle may hold, sorted.
func SupportedKinds() []string { return slices.Sorted(maps.Keys(supportedKinds)) }

// Namespaced reports whether objects of a supported kind live in a namespace.
func Namespaced(kind string) bool { return supportedKinds[kind] }
