package clusterextension

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operator is a bundle to publish.
type operator struct {
	pkg, version string
	replaces     string            // a version
	modes        []string          // AllNamespaces when there is none
	files        map[string]string // manifests besides the ClusterServiceVersion
	csv          string            // more of its spec, as JSON members with a comma in front
	annotations  map[string]string // of its ClusterServiceVersion
	rules        string            // of its service account in the cluster, as JSON
	properties   string            // more properties, as JSON values with a comma in front
	deprecated   string            // why
	missing      bool              // its image is not pushed
	unscaled     bool              // its Deployment has no number of replicas
}

func (o operator) name() string { return o.pkg + ".v" + o.version }

func (w *world) image(o operator) string {
	return fmt.Sprintf("%s/%s/%s:v%s", w.registry, w.name, o.pkg, o.version)
}

func (o operator) manifest() string {
	modes := o.modes
	if len(modes) == 0 {
		modes = []string{"AllNamespaces"}
	}
	var all []string
	for _, m := range modes {
		all = append(all, fmt.Sprintf(`{"type":%q,"supported":true}`, m))
	}
	annotations, err := json.Marshal(o.annotations)
	if err != nil {
		panic(err) // strings always encode
	}
	rules := o.rules
	if rules == "" {
		rules = `[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]`
	}
	replicas := `"replicas":1,`
	if o.unscaled {
		replicas = ""
	}
	return fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":%q,"annotations":%[7]s},"spec":{"displayName":%[2]q,"version":%[3]q,
		"installModes":[%[4]s]%[5]s,"install":{"strategy":"deployment","spec":{
		"clusterPermissions":[{"serviceAccountName":%[2]q,"rules":%[6]s}],
		"deployments":[{"name":%[2]q,"spec":{%[8]s"selector":{"matchLabels":{"app":%[2]q}},
		"template":{"metadata":{"labels":{"app":%[2]q}},"spec":{"serviceAccountName":%[2]q,"containers":[{"name":"op","image":"registry.example.com/%[2]s:%[3]s"}]}}}}]}}}}`,
		o.name(), o.pkg, o.version, strings.Join(all, ","), o.csv, rules, annotations, replicas)
}

// push pushes files as an image.
func (w *world) push(ref string, files map[string][]byte, labels map[string]string) string {
	w.Helper()
	tree := must.Value(image.Files(files))(w)
	digest := must.Value(image.Push(context.Background(), ref, tree, labels, image.PushOptions{}))(w)
	return digest
}

// pushBundle pushes a bundle, and returns its image by digest.
func (w *world) pushBundle(o operator) string {
	w.Helper()
	labels := image.BundleLabels(o.pkg, []string{"stable"}, "stable")
	annotations := must.Value(json.Marshal(map[string]any{"annotations": labels}))(w)
	files := map[string][]byte{"manifests/csv.json": []byte(o.manifest()), "metadata/annotations.json": annotations}
	for name, text := range o.files {
		files["manifests/"+name+".json"] = []byte(text)
	}
	return strings.TrimSuffix(w.image(o), ":v"+o.version) + "@" + w.push(w.image(o), files, labels)
}

// publish pushes the bundles and a catalog of them, and makes the ClusterCatalog refer to it by its digest.
func (w *world) publish(operators ...operator) {
	w.Helper()
	w.serve(w.name, w.catalog(operators...))
}

// catalog pushes bundles and a catalog of them, and returns how to refer to that.
func (w *world) catalog(operators ...operator) string {
	w.Helper()
	var out strings.Builder
	entries, deprecated := map[string][]string{}, map[string][]string{}
	for _, o := range operators {
		if !o.missing {
			w.pushBundle(o)
		}
		if entries[o.pkg] == nil {
			fmt.Fprintf(&out, `{"schema":"olm.package","name":%q,"defaultChannel":"stable"}`, o.pkg)
		}
		entry := fmt.Sprintf(`{"name":%q}`, o.name())
		if o.replaces != "" {
			entry = fmt.Sprintf(`{"name":%q,"replaces":"%s.v%s"}`, o.name(), o.pkg, o.replaces)
		}
		entries[o.pkg] = append(entries[o.pkg], entry)
		if o.deprecated != "" {
			deprecated[o.pkg] = append(deprecated[o.pkg], fmt.Sprintf(`{"reference":{"schema":"olm.bundle","name":%q},"message":%q}`, o.name(), o.deprecated))
		}
		fmt.Fprintf(&out, `{"schema":"olm.bundle","package":%q,"name":%q,"image":%q,"properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":%[4]q}}%[5]s]}`,
			o.pkg, o.name(), w.image(o), o.version, o.properties)
	}
	for pkg, list := range entries {
		fmt.Fprintf(&out, `{"schema":"olm.channel","package":%q,"name":"stable","entries":[%s]}`, pkg, strings.Join(list, ","))
	}
	for pkg, list := range deprecated {
		fmt.Fprintf(&out, `{"schema":"olm.deprecations","package":%q,"entries":[%s]}`, pkg, strings.Join(list, ","))
	}
	ref := w.registry + "/" + w.name + "/catalog"
	return ref + "@" + w.push(ref+":latest", map[string][]byte{"configs/catalog.json": []byte(out.String())}, image.CatalogLabels())
}

// serve makes a ClusterCatalog of an image, or lets the one that there is refer to it.
func (w *world) serve(name, ref string) {
	w.Helper()
	object := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name}}
	err := w.Get(w.Context(), client.ObjectKeyFromObject(object), object)
	source := olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref}}
	if apierrors.IsNotFound(err) {
		object.Spec.Source = source
		w.create(object)
		return
	}
	must.NoError(w, err)
	before := object.DeepCopy()
	object.Spec.Source = source
	must.NoError(w, w.Patch(w.Context(), object, client.MergeFrom(before)))
}

// clean is a context for what follows a test.
func (w *world) clean() context.Context { return context.Background() }

func configMap(name, value string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"value":%q}}`, name, value)
}
