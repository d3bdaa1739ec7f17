package validate

// ruleRows is what each rule is broken by, one thing at a time.
func ruleRows() map[string]row {
	return map[string]row{
		"no metadata": {
			edits: []edit{{"metadata/annotations.yaml", "", ""}, {"metadata/dependencies.yaml", "", ""}, {"metadata/properties.yaml", "", ""}},
			want:  []string{"Error format/metadata-directory :0"},
		},
		"no manifests": {
			edits: []edit{{csvFile, "", ""}, {crdFile, "", ""}, {"manifests/budget.yaml", "", ""}, {"manifests/priority.yaml", "", ""}, {"manifests/role.yaml", "", ""}},
			want:  []string{"Error format/manifests-directory :0"},
		},
		"no annotations": {
			edits: []edit{{annotationsFile, "annotations:", "notes:"}},
			want:  []string{"Error format/annotations-missing :0"},
		},
		"no annotation for media type": {
			edits: []edit{{annotationsFile, "  operators.operatorframework.io.bundle.mediatype.v1: registry+v1\n", ""}},
			want:  []string{"Error format/annotation-missing metadata/annotations.yaml:1"},
		},
		"no annotation for manifests": {
			edits: []edit{{annotationsFile, "  operators.operatorframework.io.bundle.manifests.v1: manifests/\n", ""}},
			want:  []string{"Error format/annotation-missing metadata/annotations.yaml:1"},
		},
		"no annotation for metadata": {
			edits: []edit{{annotationsFile, "  operators.operatorframework.io.bundle.metadata.v1: metadata/\n", ""}},
			want:  []string{"Error format/annotation-missing metadata/annotations.yaml:1"},
		},
		"no annotation for package": {
			edits: []edit{{annotationsFile, "  operators.operatorframework.io.bundle.package.v1: op\n", ""}},
			want:  []string{"Error format/annotation-missing metadata/annotations.yaml:1"},
		},
		"no annotation for channels": {
			edits: []edit{{annotationsFile, "  operators.operatorframework.io.bundle.channels.v1: stable,fast\n", ""}},
			want:  []string{"Error format/annotation-missing metadata/annotations.yaml:1", "Warning format/default-channel-unknown metadata/annotations.yaml:6"},
		},
		"an empty package": {
			edits: []edit{{annotationsFile, "package.v1: op", `package.v1: ""`}},
			want:  []string{"Error format/annotation-value metadata/annotations.yaml:5"},
		},
		"channels that are commas": {
			edits: []edit{{annotationsFile, "stable,fast", `","`}},
			want:  []string{"Error format/annotation-value metadata/annotations.yaml:6", "Warning format/default-channel-unknown metadata/annotations.yaml:7"},
		},
		"another directory of metadata": {
			edits: []edit{{annotationsFile, "metadata.v1: metadata/", "metadata.v1: meta/"}},
			want:  []string{"Error format/annotation-value metadata/annotations.yaml:4"},
		},
		"a directory of manifests that is not there": {
			edits: []edit{{annotationsFile, "manifests.v1: manifests/", "manifests.v1: deploy/"}},
			want:  []string{"Warning format/file-passed-over metadata/annotations.yaml:1", "Error format/annotation-value metadata/annotations.yaml:3"},
		},
		"an empty default channel": {
			edits: []edit{{annotationsFile, "default.v1: stable", `default.v1: ""`}},
			want:  []string{"Error format/annotation-value metadata/annotations.yaml:7"},
		},
		"a default channel that the bundle is not in": {
			edits: []edit{{annotationsFile, "default.v1: stable", "default.v1: slow"}},
			want:  []string{"Warning format/default-channel-unknown metadata/annotations.yaml:7"},
		},
		"media type helm for a registry+v1 bundle": {
			edits: []edit{{annotationsFile, "registry+v1", "helm"}},
			want:  []string{"Error format/annotation-value metadata/annotations.yaml:2"},
		},
		"media type plain for a registry+v1 bundle": {
			edits: []edit{{annotationsFile, "registry+v1", "plain"}},
			want:  []string{"Error format/annotation-value metadata/annotations.yaml:2"},
		},
		"an unknown media type": {
			edits: []edit{{annotationsFile, "registry+v1", "docker"}, {csvFile, "", ""}, {crdFile, "", ""}, {"manifests/budget.yaml", "", ""}, {"manifests/priority.yaml", "", ""}, {"manifests/role.yaml", "", ""}, {"manifests/README.md", "", "hello"}},
			want:  []string{"Error format/csv-missing :0", "Error format/file-not-object manifests/README.md:1", "Error format/media-type metadata/annotations.yaml:2"},
		},
		"a chart": {
			edits: []edit{{annotationsFile, "registry+v1", "helm"}, {csvFile, "", ""}, {"manifests/Chart.yaml", "", "apiVersion: v2\nname: x\nversion: 1.0.0\n"}, {"manifests/templates/x.yaml", "", "{{ no YAML"}, {"manifests/values.yaml", "", "x: ["}},
			want:  []string{"Warning format/media-type metadata/annotations.yaml:2"},
		},
		"plain manifests": {
			edits: []edit{{annotationsFile, "registry+v1", "plain"}, {csvFile, "", ""}, {"manifests/pod.yaml", "", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n"}},
			want:  []string{"Warning format/media-type metadata/annotations.yaml:2"},
		},
		"broken YAML": {
			edits: []edit{{"manifests/x.yaml", "", "a: 1\nb: [\n"}},
			want:  []string{"Error format/file-unreadable manifests/x.yaml:2"},
		},
		"an object without name": {
			edits: []edit{{"manifests/x.yaml", "", "apiVersion: v1\nkind: Secret\nmetadata: {}\n"}},
			want:  []string{"Error format/file-unreadable manifests/x.yaml:1"},
		},
		"broken dependencies": {
			edits: []edit{{"metadata/dependencies.yaml", "dependencies:\n- type: olm.package", "x: 1\ndependencies:\n- typ: olm.package"}},
			want:  []string{"Error format/file-unreadable metadata/dependencies.yaml:3"},
		},
		"several broken dependencies": {
			edits: []edit{{"metadata/dependencies.yaml", "dependencies:\n- type: olm.package", "dependencies:\n- {value: {}}\n- text\n- {type: olm.label}\n- {type: olm.label, value: {}}\n- type: olm.package"}},
			want: []string{
				"Error format/file-unreadable metadata/dependencies.yaml:2", "Error format/file-unreadable metadata/dependencies.yaml:3",
				"Error format/file-unreadable metadata/dependencies.yaml:4", "Error format/dependency metadata/dependencies.yaml:5",
			},
		},
		"annotations that are a list": {
			edits: []edit{{annotationsFile, "annotations:", "x: 1\nannotations: [a]\nrest:"}},
			want:  []string{"Error format/file-unreadable metadata/annotations.yaml:2"},
		},
		"a file that is no object": {
			edits: []edit{{"manifests/values.yaml", "", "replicas: 1\n"}},
			want:  []string{"Error format/file-not-object manifests/values.yaml:1"},
		},
		"a file that is no YAML": {
			edits: []edit{{"manifests/README.md", "", "# Read: [me\n"}},
			want:  []string{"Error format/file-not-object manifests/README.md:0"},
		},
		"several documents": {
			edits: []edit{{"manifests/role.yaml", "metadata: {name: op}", "metadata: {name: op}\n---\nx: 1\n---"}},
			want:  []string{"Warning format/file-passed-over manifests/role.yaml:1"},
		},
		"a key twice": {
			edits: []edit{{"manifests/priority.yaml", "value: 1", "value: 1\nvalue: 2"}},
			want:  []string{"Warning format/file-passed-over manifests/priority.yaml:1"},
		},
		"a CSV of another group": {
			edits: []edit{{csvFile, "operators.coreos.com", "x.operators.coreos.com"}},
			want:  []string{"Warning format/file-passed-over manifests/csv.yaml:1"},
		},
		"a directory in the manifests": {
			edits: []edit{{"manifests/more/x.yaml", "", "x: 1"}},
			want:  []string{"Error format/manifests-entry manifests/more:0"},
		},
		"a hidden file in the manifests": {
			edits: []edit{{"manifests/.x", "", "x"}},
			want:  []string{"Error format/manifests-entry manifests/.x:0"},
		},
		"an unsupported kind": {
			edits: []edit{{"manifests/x.yaml", "", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n"}},
			want:  []string{"Error format/kind-unsupported manifests/x.yaml:1"},
		},
		"no CSV": {
			edits: []edit{{csvFile, "", ""}},
			want:  []string{"Error format/csv-missing :0"},
		},
		"two CSVs": {
			edits: []edit{{"manifests/z.yaml", "", "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: z}\n"}},
			want:  []string{"Error format/csv-duplicate manifests/z.yaml:1"},
		},
		"a CSV with a field of another form": {
			edits: []edit{{csvFile, "displayName: Op", "displayName: [Op]"}},
			want:  []string{"Error format/csv-form manifests/csv.yaml:12"},
		},
		"a CSV of another form": {
			edits: []edit{{csvFile, "version: 1.0.0", "version: one"}},
			want:  []string{"Error format/csv-form manifests/csv.yaml:1"},
		},
		"a dependency: unknown type": {
			edits: []edit{{"metadata/dependencies.yaml", "olm.label", "olm.lable"}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:6"},
		},
		"a dependency: package without name": {
			edits: []edit{{"metadata/dependencies.yaml", "packageName: other, version", "x: other, version"}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:2"},
		},
		"a dependency: package without range": {
			edits: []edit{{"metadata/dependencies.yaml", `version: ">=1.0.0"`, "x: y"}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:2"},
		},
		"a dependency: package with a bad range": {
			edits: []edit{{"metadata/dependencies.yaml", `">=1.0.0"`, `"~~1"`}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:2"},
		},
		"a dependency: package that is a text": {
			edits: []edit{{"metadata/dependencies.yaml", `{packageName: other, version: ">=1.0.0"}`, "text"}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:2"},
		},
		"a dependency: API without group": {
			edits: []edit{{"metadata/dependencies.yaml", "{group: example.com, version: v1, kind: Other}", "{version: v1, kind: Other}"}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:4"},
		},
		"a dependency: API without version": {
			edits: []edit{{"metadata/dependencies.yaml", "{group: example.com, version: v1, kind: Other}", "{group: example.com, kind: Other}"}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:4"},
		},
		"a dependency: API without kind": {
			edits: []edit{{"metadata/dependencies.yaml", "{group: example.com, version: v1, kind: Other}", "{group: example.com, version: v1}"}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:4"},
		},
		"a dependency: API that is a text": {
			edits: []edit{{"metadata/dependencies.yaml", "{group: example.com, version: v1, kind: Other}", "text"}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:4"},
		},
		"a dependency: label without text": {
			edits: []edit{{"metadata/dependencies.yaml", "{label: l}", `{label: ""}`}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:6"},
		},
		"a dependency: label that is a text": {
			edits: []edit{{"metadata/dependencies.yaml", "{label: l}", "l"}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:6"},
		},
		"a dependency: constraint without CEL": {
			edits: []edit{{"metadata/dependencies.yaml", "    cel: {rule: \"properties.exists(p, p.type == 'x')\"}\n", ""}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:8"},
		},
		"a dependency: constraint without rule": {
			edits: []edit{{"metadata/dependencies.yaml", `{rule: "properties.exists(p, p.type == 'x')"}`, "{}"}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:8"},
		},
		"a dependency: constraint that is no rule": {
			edits: []edit{{"metadata/dependencies.yaml", "p.type ==", "p.type = ="}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:8"},
		},
		"a dependency: constraint that is no bool": {
			edits: []edit{{"metadata/dependencies.yaml", "properties.exists(p, p.type == 'x')", "1 + 1"}},
			want:  []string{"Error format/dependency metadata/dependencies.yaml:8"},
		},
		"a property: constraint": {
			edits: []edit{{"metadata/properties.yaml", "constraints: [", "constraints: [], x: ["}},
			want:  []string{"Error format/property metadata/properties.yaml:6"},
		},
		"a dependency: a rule that the bundle meets itself": {
			edits: []edit{{"metadata/dependencies.yaml", "p.type == 'x'", "p.type == 'anything'"}},
			want:  []string{"Warning format/need-doubtful metadata/dependencies.yaml:8"},
		},
		"a dependency: its own package": {
			edits: []edit{{"metadata/dependencies.yaml", "packageName: other", "packageName: op"}},
			want:  []string{"Warning format/need-doubtful metadata/dependencies.yaml:2"},
		},
		"a dependency: its own package in another version": {
			edits: []edit{{"metadata/dependencies.yaml", `packageName: other, version: ">=1.0.0"`, `packageName: op, version: "<1.0.0"`}},
			want:  []string{"Warning format/need-doubtful metadata/dependencies.yaml:2"},
		},
		"a dependency: a constraint of two kinds": {
			edits: []edit{{"metadata/dependencies.yaml", "    cel:", "    gvk: {group: g, version: v1, kind: K}\n    cel:"}},
			want:  []string{"Warning format/need-doubtful metadata/dependencies.yaml:8"},
		},
		"a property: a constraint without content": {
			edits: []edit{{"metadata/properties.yaml", "[{gvk: {group: g, version: v1, kind: K}}]", "[{all: {}}, {any: {constraints: []}}]"}},
			want:  []string{"Warning format/need-doubtful metadata/properties.yaml:6", "Warning format/need-doubtful metadata/properties.yaml:6"},
		},
		"a property: a package by its name": {
			edits: []edit{{"metadata/properties.yaml", "gvk: {group: g, version: v1, kind: K}", "package: {name: other, versionRange: '>=1.0.0'}"}},
			want:  []string{"Warning format/need-doubtful metadata/properties.yaml:6"},
		},
		"a property: its own package in another version": {
			edits: []edit{{"metadata/properties.yaml", `packageName: other, versionRange: "<3.0.0"`, `packageName: op, versionRange: ">3.0.0"`}},
			want:  []string{"Warning format/need-doubtful metadata/properties.yaml:4"},
		},
		"properties wrapped in property": {
			edits: []edit{{"metadata/properties.yaml", "- type: anything\n  value: [1]", "- property:\n    type: anything\n    value: [1]"}},
			want:  []string{"Warning format/entry-wrapped metadata/properties.yaml:1"},
		},
		"properties wrapped in property and broken": {
			edits: []edit{{"metadata/properties.yaml", "- type: anything\n  value: [1]", "- property: {type: anything}\n- property: text\n- property: {type: a, value: 1}\n  more: 1"}},
			want: []string{"Warning format/entry-wrapped metadata/properties.yaml:1", "Error format/file-unreadable metadata/properties.yaml:8",
				"Error format/file-unreadable metadata/properties.yaml:9", "Error format/file-unreadable metadata/properties.yaml:10"},
		},
		"a property: API": {
			edits: []edit{{"metadata/properties.yaml", "kind: More", "x: More"}},
			want:  []string{"Error format/property metadata/properties.yaml:2"},
		},
		"a property: API that is a text": {
			edits: []edit{{"metadata/properties.yaml", "{group: example.com, version: v1, kind: More}", "text"}},
			want:  []string{"Error format/property metadata/properties.yaml:2"},
		},
		"a property: package": {
			edits: []edit{{"metadata/properties.yaml", `"<3.0.0"`, `"<<3"`}},
			want:  []string{"Error format/property metadata/properties.yaml:4"},
		},
		"a property: package that is a text": {
			edits: []edit{{"metadata/properties.yaml", `{packageName: other, versionRange: "<3.0.0"}`, "text"}},
			want:  []string{"Error format/property metadata/properties.yaml:4"},
		},
		"a property: own package": {
			edits: []edit{{"metadata/properties.yaml", "type: anything\n  value: [1]", "type: olm.package\n  value: {packageName: op, version: v1}"}},
			want:  []string{"Error format/property metadata/properties.yaml:8"},
		},
		"a property: own package that is a text": {
			edits: []edit{{"metadata/properties.yaml", "type: anything\n  value: [1]", "type: olm.package\n  value: op"}},
			want:  []string{"Error format/property metadata/properties.yaml:8"},
		},
		"the annotation olm.properties in no form": {
			edits: []edit{{csvFile, "    capabilities", "    olm.properties: \"{\"\n    capabilities"}},
			want:  []string{"Warning install/properties-annotation-form manifests/csv.yaml:7", "Warning csv/csv-properties-annotation manifests/csv.yaml:7"},
		},
		"a name with capitals": {
			edits: []edit{{csvFile, "name: op.v1.0.0", "name: Op.v1.0.0"}},
			want:  []string{"Error install/csv-name manifests/csv.yaml:4"},
		},
		"a replaced name that is too long": {
			edits: []edit{{csvFile, "  version: 1.0.0", "  replaces: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n  version: 1.0.0"}},
			want:  []string{"Error install/csv-replaces manifests/csv.yaml:11"},
		},
		"a minKubeVersion that is none": {
			edits: []edit{{csvFile, "1.21.0", "v1.x"}},
			want:  []string{"Error install/csv-min-kube-version manifests/csv.yaml:13"},
		},
		"a skipRange that is none": {
			edits: []edit{{csvFile, `"<1.0.0"`, `"<<"`}},
			want:  []string{"Warning install/csv-skip-range manifests/csv.yaml:9"},
		},
		"no install mode": {
			edits: []edit{{csvFile, "supported: true", "supported: false"}},
			want:  []string{"Error install/csv-install-modes manifests/csv.yaml:21"},
		},
		"an install mode twice": {
			edits: []edit{{csvFile, "  - {type: AllNamespaces, supported: true}", "  - {type: AllNamespaces, supported: true}\n  - {type: AllNamespaces, supported: true}"}},
			want:  []string{"Error install/csv-install-modes manifests/csv.yaml:21"},
		},
		"another strategy": {
			edits: []edit{{csvFile, "strategy: deployment", "strategy: helm"}},
			want:  []string{"Error install/csv-install-strategy manifests/csv.yaml:34"},
		},
		"no selector": {
			edits: []edit{{csvFile, "selector: {matchLabels: {app: op}}", "replicas: 1"}},
			want:  []string{"Error install/csv-deployment manifests/csv.yaml:42"},
		},
		"no account": {
			edits: []edit{{csvFile, "- serviceAccountName: op\n        rules", "- rules"}},
			want:  []string{"Warning install/csv-service-account manifests/csv.yaml:37"},
		},
		"an account in capitals": {
			edits: []edit{{csvFile, "- serviceAccountName: op\n        rules", "- serviceAccountName: OP\n        rules"}},
			want:  []string{"Error install/csv-service-account manifests/csv.yaml:37"},
		},
		"a rule without verbs": {
			edits: []edit{{csvFile, ", verbs: [get]", ""}},
			want:  []string{"Error install/csv-permission manifests/csv.yaml:39"},
		},
		"a webhook without its Deployment": {
			edits: []edit{{csvFile, "  install:\n", "  webhookdefinitions:\n  - {type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: x, sideEffects: None, admissionReviewVersions: [v1]}\n  install:\n"}},
			want:  []string{"Error install/csv-served-by manifests/csv.yaml:34"},
		},
		"a webhook of no type": {
			edits: []edit{{csvFile, "  install:\n", "  webhookdefinitions:\n  - {type: x, generateName: m.kb.io, deploymentName: op, sideEffects: None, admissionReviewVersions: [v1]}\n  install:\n"}},
			want:  []string{"Error install/csv-webhook manifests/csv.yaml:34"},
		},
		"a webhook on everything": {
			edits: []edit{{csvFile, "  install:\n", "  webhookdefinitions:\n  - {type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: op, sideEffects: None, admissionReviewVersions: [v1], rules: [{apiGroups: [\"*\"]}]}\n  install:\n"}},
			want:  []string{"Error install/csv-webhook-rules manifests/csv.yaml:34"},
		},
		"a webhook with a bad name": {
			edits: []edit{{csvFile, "  install:\n", "  webhookdefinitions:\n  - {type: MutatingAdmissionWebhook, generateName: M, deploymentName: op, sideEffects: None, admissionReviewVersions: [v1]}\n  install:\n"}},
			want:  []string{"Error install/csv-webhook-name manifests/csv.yaml:34"},
		},
		"two webhooks of a name": {
			edits: []edit{{csvFile, "  install:\n", "  webhookdefinitions:\n  - {type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: op, sideEffects: None, admissionReviewVersions: [v1]}\n  - {type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: op, sideEffects: None, admissionReviewVersions: [v1]}\n  install:\n"}},
			want:  []string{"Warning install/csv-webhook-name manifests/csv.yaml:35", "Error olm-v1/v1-webhook-name manifests/csv.yaml:35"},
		},
		"a conversion without CRDs": {
			edits: []edit{{csvFile, "  install:\n", "  webhookdefinitions:\n  - {type: ConversionWebhook, generateName: m.kb.io, deploymentName: op, sideEffects: None, admissionReviewVersions: [v1]}\n  install:\n"}},
			want:  []string{"Error install/csv-webhook-conversion manifests/csv.yaml:33"},
		},
		"a conversion in one namespace": {
			edits: []edit{{csvFile, "  install:\n", "  webhookdefinitions:\n  - {type: ConversionWebhook, generateName: m.kb.io, deploymentName: op, sideEffects: None, admissionReviewVersions: [v1], conversionCRDs: [things.example.com]}\n  install:\n"}, {csvFile, "  - {type: AllNamespaces, supported: true}", "  - {type: AllNamespaces, supported: true}\n  - {type: OwnNamespace, supported: true}"}},
			want:  []string{"Error install/csv-webhook-conversion manifests/csv.yaml:34"},
		},
		"an owned CRD that is missing": {
			edits: []edit{{crdFile, "", ""}},
			want:  []string{"Error install/csv-owned-crd manifests/csv.yaml:27"},
		},
		"an owned version that is missing": {
			edits: []edit{{csvFile, "      version: v1\n", "      version: v2\n"}, {csvFile, `example.com/v1"`, `example.com/v2"`}},
			want:  []string{"Error install/csv-owned-crd manifests/csv.yaml:27"},
		},
		"a required CRD without group": {
			edits: []edit{{csvFile, "    owned:", "    required:\n    - {name: things, version: v1, kind: T, description: d}\n    owned:"}},
			want:  []string{"Error install/csv-required-crd manifests/csv.yaml:27"},
		},
		"a CRD of lifecycle management itself": {
			edits: []edit{{"manifests/o.yaml", "", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: os.operators.coreos.com\nspec:\n  group: operators.coreos.com\n  scope: Cluster\n  names: {kind: O, plural: os}\n  versions: [{name: v1, served: true, storage: true}]\n"}, {csvFile, "    - name: things.example.com", "    - {name: os.operators.coreos.com, version: v1, kind: O, description: d}\n    - name: things.example.com"}, {csvFile, "alm-examples: '[", `alm-examples: '[{"apiVersion": "operators.coreos.com/v1", "kind": "O"}, `}},
			want:  []string{"Error install/crd-lifecycle-group manifests/o.yaml:6"},
		},
		"a CRD whose name is not made of its parts": {
			edits: []edit{{crdFile, "plural: things", "plural: thing"}},
			want:  []string{"Error install/crd-name manifests/things.crd.yaml:4"},
		},
		"an old CRD": {
			edits: []edit{{crdFile, "io/v1\n", "io/v1beta1\n"}},
			want:  []string{"Warning install/crd-api-version manifests/things.crd.yaml:1"},
		},
		"a CRD that is not owned": {
			edits: []edit{{"manifests/o.yaml", "", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: os.example.com}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {kind: O, plural: os}\n  versions: [{name: v1, served: true, storage: true}]\n"}},
			want:  []string{"Warning install/crd-not-owned manifests/o.yaml:1"},
		},
		"an object twice": {
			edits: []edit{{"manifests/z.yaml", "", "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: op}\nvalue: 1\n"}},
			want:  []string{"Error install/object-duplicate manifests/priority.yaml:1"},
		},
		"an object with a bad name": {
			edits: []edit{{"manifests/priority.yaml", "name: op", "name: O_P"}},
			want:  []string{"Error install/object-name manifests/priority.yaml:3"},
		},
		"no annotations in the CSV": {
			edits: []edit{{csvFile, "  annotations:\n    alm-examples: '[{\"apiVersion\": \"example.com/v1\", \"kind\": \"Thing\", \"metadata\": {\"name\": \"x\"}}]'\n    capabilities: Basic Install\n    categories: \"Database, Storage\"\n    olm.skipRange: \"<1.0.0\"\n", ""}},
			want:  []string{"Warning csv/csv-annotations-missing manifests/csv.yaml:3"},
		},
		"no examples": {
			edits: []edit{{csvFile, "alm-examples", "no-examples"}},
			want:  []string{"Warning csv/csv-examples-missing manifests/csv.yaml:5"},
		},
		"examples under the other name": {
			edits: []edit{{csvFile, "alm-examples", "olm.examples"}},
		},
		"examples twice": {
			edits: []edit{{csvFile, "    capabilities", "    olm.examples: '[]'\n    capabilities"}},
			want:  []string{"Warning csv/csv-examples-twice manifests/csv.yaml:7"},
		},
		"examples that are no JSON": {
			edits: []edit{{csvFile, `"kind": "Thing", "metadata"`, `"kind": "Thing" "metadata"`}},
			want:  []string{"Error csv/csv-examples-form manifests/csv.yaml:6"},
		},
		"examples that are no list": {
			edits: []edit{{csvFile, "'[{", "'{"}, {csvFile, "}}]'", "}}'"}},
			want:  []string{"Error csv/csv-examples-form manifests/csv.yaml:6"},
		},
		"an example of another API": {
			edits: []edit{{csvFile, `"kind": "Thing"`, `"kind": "Other"`}},
			want:  []string{"Error csv/csv-example-api manifests/csv.yaml:6", "Warning csv/csv-example-missing manifests/csv.yaml:6"},
		},
		"an API without example": {
			edits: []edit{{csvFile, `'[{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}]'`, "'[]'"}},
			want:  []string{"Warning csv/csv-example-missing manifests/csv.yaml:6"},
		},
		"no minKubeVersion": {
			edits: []edit{{csvFile, "  minKubeVersion: 1.21.0\n", ""}},
			want:  []string{"Warning csv/csv-min-kube-version-missing manifests/csv.yaml:10"},
		},
		"no display name": {
			edits: []edit{{csvFile, "  displayName: Op\n", ""}},
			want:  []string{"Error csv/csv-required-field manifests/csv.yaml:10"},
		},
		"no deployments": {
			edits: []edit{{csvFile, "      deployments:\n", "      others:\n"}},
			want:  []string{"Warning install/csv-no-deployments manifests/csv.yaml:35", "Error csv/csv-required-field manifests/csv.yaml:35", "Error good-practices/deployments-missing manifests/csv.yaml:35"},
		},
		"an empty list of deployments": {
			edits: []edit{{csvFile, "      deployments:\n", "      deployments: []\n      others:\n"}},
			want:  []string{"Warning install/csv-no-deployments manifests/csv.yaml:40", "Error good-practices/deployments-missing manifests/csv.yaml:40"},
		},
		"no install strategy": {
			edits: []edit{{csvFile, "  install:\n", "  x:\n"}},
			want:  []string{"Error install/csv-install-strategy manifests/csv.yaml:10", "Error csv/csv-required-field manifests/csv.yaml:10"},
		},
		"an annotation in the wrong case": {
			edits: []edit{{csvFile, "olm.skipRange", "olm.skiprange"}},
			want:  []string{"Error csv/annotation-case manifests/csv.yaml:9"},
		},
		"an annotation of another object in the wrong case": {
			edits: []edit{{"manifests/role.yaml", "{name: op}", "{name: op, annotations: {OLM.targetnamespaces: x}}"}},
			want:  []string{"Error csv/annotation-case manifests/role.yaml:3"},
		},
		"properties in the CSV": {
			edits: []edit{{csvFile, "    capabilities", "    olm.properties: '[{\"type\": \"y\", \"value\": 1}]'\n    capabilities"}},
			want:  []string{"Warning csv/csv-properties-annotation manifests/csv.yaml:7"},
		},
		"a CRD: another version of the kind": {
			edits: []edit{{crdFile, "io/v1\n", "io/v2\n"}},
			want:  []string{"Warning install/crd-api-version manifests/things.crd.yaml:1", "Error crd/crd-api-version-unsupported manifests/things.crd.yaml:1"},
		},
		"a CRD: another form": {
			edits: []edit{{crdFile, "served: true", "served: [1]"}},
			want:  []string{"Error crd/crd-form manifests/things.crd.yaml:11"},
		},
		"a CRD: a scope that is none": {
			edits: []edit{{crdFile, "Namespaced", "Namespace"}},
			want:  []string{"Error crd/crd-scope manifests/things.crd.yaml:7"},
		},
		"a CRD: no scope": {
			edits: []edit{{crdFile, "  scope: Namespaced\n", ""}},
			want:  []string{"Error crd/crd-scope manifests/things.crd.yaml:5"},
		},
		"a CRD: no kind": {
			edits: []edit{{crdFile, "kind: Thing,", ""}},
			want:  []string{"Error install/csv-owned-crd manifests/csv.yaml:27", "Error crd/crd-names manifests/things.crd.yaml:8"},
		},
		"a CRD: a plural in capitals": {
			edits: []edit{{crdFile, "plural: things", "plural: Things"}},
			want:  []string{"Error install/crd-name manifests/things.crd.yaml:4", "Error crd/crd-names manifests/things.crd.yaml:8"},
		},
		"a CRD: a list of the name of the kind": {
			edits: []edit{{crdFile, "listKind: ThingList", "listKind: Thing"}},
			want:  []string{"Error crd/crd-names manifests/things.crd.yaml:8"},
		},
		"a CRD: a bad short name": {
			edits: []edit{{crdFile, "shortNames: [th]", "shortNames: [T.H]"}},
			want:  []string{"Error crd/crd-names manifests/things.crd.yaml:8"},
		},
		"a CRD: an empty category": {
			edits: []edit{{crdFile, "categories: [all]", `categories: [""]`}},
			want:  []string{"Error crd/crd-names manifests/things.crd.yaml:8"},
		},
		"a CRD: a bad singular": {
			edits: []edit{{crdFile, "singular: thing", `singular: "a thing"`}},
			want:  []string{"Error crd/crd-names manifests/things.crd.yaml:8"},
		},
		"a CRD: a version that is no name": {
			edits: []edit{{crdFile, "- name: v1beta1", "- name: 1beta1"}},
			want:  []string{"Error crd/crd-versions manifests/things.crd.yaml:37"},
		},
		"a CRD: a version twice": {
			edits: []edit{{crdFile, "- name: v1beta1", "- name: v1"}},
			want:  []string{"Error crd/crd-versions manifests/things.crd.yaml:37"},
		},
		"a CRD: a warning for what is not deprecated": {
			edits: []edit{{crdFile, "    deprecated: true\n", ""}},
			want:  []string{"Error crd/crd-versions manifests/things.crd.yaml:40"},
		},
		"a CRD: an empty warning": {
			edits: []edit{{crdFile, "deprecationWarning: use v1", `deprecationWarning: ""`}},
			want:  []string{"Error crd/crd-versions manifests/things.crd.yaml:41"},
		},
		"a CRD: no storage version": {
			edits: []edit{{crdFile, "storage: true", "storage: false"}},
			want:  []string{"Error crd/crd-storage-version manifests/things.crd.yaml:11"},
		},
		"a CRD: two storage versions": {
			edits: []edit{{crdFile, "storage: false", "storage: true"}},
			want:  []string{"Error crd/crd-storage-version manifests/things.crd.yaml:11"},
		},
		"a CRD: a column without name": {
			edits: []edit{{crdFile, "name: Age, ", ""}},
			want:  []string{"Error crd/crd-printer-column manifests/things.crd.yaml:16"},
		},
		"a CRD: a column of no type": {
			edits: []edit{{crdFile, "type: date, ", ""}},
			want:  []string{"Error crd/crd-printer-column manifests/things.crd.yaml:16"},
		},
		"a CRD: a column of another format": {
			edits: []edit{{crdFile, "format: int32", "format: int16"}},
			want:  []string{"Error crd/crd-printer-column manifests/things.crd.yaml:17"},
		},
		"a CRD: a column without path": {
			edits: []edit{{crdFile, ", jsonPath: .spec.size", ""}},
			want:  []string{"Error crd/crd-printer-column manifests/things.crd.yaml:17"},
		},
		"a CRD: a path for columns without dot": {
			edits: []edit{{crdFile, "jsonPath: .spec.size", "jsonPath: spec.size"}},
			want:  []string{"Error crd/crd-printer-column manifests/things.crd.yaml:17"},
		},
		"a CRD: a path for scale elsewhere": {
			edits: []edit{{crdFile, "specReplicasPath: .spec.size", "specReplicasPath: .size"}},
			want:  []string{"Error crd/crd-scale manifests/things.crd.yaml:22"},
		},
		"a CRD: a selector for scale elsewhere": {
			edits: []edit{{crdFile, "labelSelectorPath: .status.selector", "labelSelectorPath: .selector"}},
			want:  []string{"Error crd/crd-scale manifests/things.crd.yaml:22"},
		},
		"a CRD: a selectable field without dot": {
			edits: []edit{{crdFile, "jsonPath: .spec.color", "jsonPath: spec.color"}},
			want:  []string{"Error crd/crd-selectable-field manifests/things.crd.yaml:19"},
		},
		"a CRD: a selectable field twice": {
			edits: []edit{{crdFile, "    - jsonPath: .spec.color\n", "    - jsonPath: .spec.color\n    - jsonPath: .spec.color\n"}},
			want:  []string{"Error crd/crd-selectable-field manifests/things.crd.yaml:20"},
		},
		"a CRD: too many selectable fields": {
			edits: []edit{{crdFile, "    - jsonPath: .spec.color\n", "    - jsonPath: .spec.color\n    - jsonPath: .spec.color\n    - jsonPath: .spec.color\n    - jsonPath: .spec.color\n    - jsonPath: .spec.color\n    - jsonPath: .spec.color\n    - jsonPath: .spec.color\n    - jsonPath: .spec.color\n    - jsonPath: .spec.color\n"}},
			want:  []string{"Error crd/crd-selectable-field manifests/things.crd.yaml:18", "Error crd/crd-selectable-field manifests/things.crd.yaml:20", "Error crd/crd-selectable-field manifests/things.crd.yaml:21", "Error crd/crd-selectable-field manifests/things.crd.yaml:22", "Error crd/crd-selectable-field manifests/things.crd.yaml:23", "Error crd/crd-selectable-field manifests/things.crd.yaml:24", "Error crd/crd-selectable-field manifests/things.crd.yaml:25", "Error crd/crd-selectable-field manifests/things.crd.yaml:26", "Error crd/crd-selectable-field manifests/things.crd.yaml:27"},
		},
		"a CRD: a selectable field that is not there": {
			edits: []edit{{crdFile, "    - jsonPath: .spec.color\n", "    - jsonPath: .spec.colour\n"}},
			want:  []string{"Error crd/crd-selectable-field manifests/things.crd.yaml:19"},
		},
		"a CRD: a selectable field of a list": {
			edits: []edit{{crdFile, "    - jsonPath: .spec.color\n", "    - jsonPath: .spec\n"}},
			want:  []string{"Error crd/crd-selectable-field manifests/things.crd.yaml:19"},
		},
		"a CRD: a strategy that is none": {
			edits: []edit{{crdFile, "strategy: None", "strategy: Hook"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:10"},
		},
		"a CRD: a webhook that is not used": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: None\n    webhook: {conversionReviewVersions: [v1], clientConfig: {url: \"https://x\"}}\n"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:11"},
		},
		"a CRD: a webhook that is missing": {
			edits: []edit{{crdFile, "strategy: None", "strategy: Webhook"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:9"},
		},
		"a CRD: a webhook at two places": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1], clientConfig: {url: \"https://x\", service: {name: x, namespace: ns}}}\n"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:11"},
		},
		"a CRD: a webhook without namespace": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: x}}}\n"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:11"},
		},
		"a CRD: a webhook of another review version": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v2], clientConfig: {service: {name: x, namespace: ns}}}\n"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:11"},
		},
		"a CRD: unknown fields are preserved": {
			edits: []edit{{crdFile, "  scope: Namespaced\n", "  scope: Namespaced\n  preserveUnknownFields: true\n"}},
			want:  []string{"Error crd/crd-preserve-unknown-fields manifests/things.crd.yaml:8"},
		},
		"a CRD: a webhook, and unknown fields are preserved": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: x, namespace: ns}}}\n  preserveUnknownFields: true\n"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:9", "Error crd/crd-preserve-unknown-fields manifests/things.crd.yaml:12"},
		},
		"a CRD: a webhook as it should be": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: x, namespace: ns}}}\n"}},
		},
		"a group without dot": {
			edits: []edit{{"manifests/o.yaml", "", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: os.local\nspec:\n  group: \"local\"\n  scope: Cluster\n  names: {kind: O, plural: os}\n  versions: [{name: v1, served: true, storage: true}]\n"}, {csvFile, "    - name: things.example.com", "    - {name: os.local, version: v1, kind: O, description: d}\n    - name: things.example.com"}, {csvFile, "alm-examples: '[", `alm-examples: '[{"apiVersion": "local/v1", "kind": "O"}, `}},
			want:  []string{"Error crd/crd-group manifests/o.yaml:6"},
		},
		"a group with capitals": {
			edits: []edit{{"manifests/o.yaml", "", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: os.Example.com\nspec:\n  group: \"Example.com\"\n  scope: Cluster\n  names: {kind: O, plural: os}\n  versions: [{name: v1, served: true, storage: true}]\n"}, {csvFile, "    - name: things.example.com", "    - {name: os.Example.com, version: v1, kind: O, description: d}\n    - name: things.example.com"}, {csvFile, "alm-examples: '[", `alm-examples: '[{"apiVersion": "Example.com/v1", "kind": "O"}, `}},
			want:  []string{"Error install/object-name manifests/o.yaml:4", "Error crd/crd-group manifests/o.yaml:6"},
		},
		"a group of Kubernetes": {
			edits: []edit{{"manifests/o.yaml", "", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: os.x.k8s.io\nspec:\n  group: \"x.k8s.io\"\n  scope: Cluster\n  names: {kind: O, plural: os}\n  versions: [{name: v1, served: true, storage: true}]\n"}, {csvFile, "    - name: things.example.com", "    - {name: os.x.k8s.io, version: v1, kind: O, description: d}\n    - name: things.example.com"}, {csvFile, "alm-examples: '[", `alm-examples: '[{"apiVersion": "x.k8s.io/v1", "kind": "O"}, `}},
			want:  []string{"Error crd/crd-approval manifests/o.yaml:3"},
		},
		"a group of Kubernetes, approved": {
			edits: []edit{{"manifests/o.yaml", "", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: os.x.k8s.io\n  annotations: {api-approved.kubernetes.io: \"https://github.com/kubernetes/enhancements/pull/1111\"}\nspec:\n  group: \"x.k8s.io\"\n  scope: Cluster\n  names: {kind: O, plural: os}\n  versions: [{name: v1, served: true, storage: true}]\n"}, {csvFile, "    - name: things.example.com", "    - {name: os.x.k8s.io, version: v1, kind: O, description: d}\n    - name: things.example.com"}, {csvFile, "alm-examples: '[", `alm-examples: '[{"apiVersion": "x.k8s.io/v1", "kind": "O"}, `}},
		},
		"a group of Kubernetes, unapproved": {
			edits: []edit{{"manifests/o.yaml", "", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: os.x.kubernetes.io\n  annotations: {api-approved.kubernetes.io: \"unapproved, an experiment\"}\nspec:\n  group: \"x.kubernetes.io\"\n  scope: Cluster\n  names: {kind: O, plural: os}\n  versions: [{name: v1, served: true, storage: true}]\n"}, {csvFile, "    - name: things.example.com", "    - {name: os.x.kubernetes.io, version: v1, kind: O, description: d}\n    - name: things.example.com"}, {csvFile, "alm-examples: '[", `alm-examples: '[{"apiVersion": "x.kubernetes.io/v1", "kind": "O"}, `}},
		},
		"a CRD without group": {
			edits: []edit{{crdFile, "  group: example.com\n", ""}},
			want:  []string{"Error install/csv-owned-crd manifests/csv.yaml:27", "Error install/crd-name manifests/things.crd.yaml:4", "Error crd/crd-group manifests/things.crd.yaml:5"},
		},
		"an old CRD in its own form": {
			edits: []edit{{crdFile, "", "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec:\n  group: example.com\n  version: v1\n  names: {kind: Thing, plural: things}\n  subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}\n  additionalPrinterColumns:\n  - {name: Age, type: date, JSONPath: .metadata.creationTimestamp}\n  conversion: {strategy: Webhook, webhookClientConfig: {service: {name: x, namespace: ns}}}\n"}},
			want:  []string{"Warning install/crd-api-version manifests/things.crd.yaml:1"},
		},
		"an old CRD with a bad column": {
			edits: []edit{{crdFile, "", "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec:\n  group: example.com\n  version: v1\n  names: {kind: Thing, plural: things}\n  subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}\n  additionalPrinterColumns:\n  - {name: Age, type: date, JSONPath: metadata.creationTimestamp}\n  conversion: {strategy: Webhook, webhookClientConfig: {service: {name: x, namespace: ns}}}\n"}},
			want:  []string{"Warning install/crd-api-version manifests/things.crd.yaml:1", "Error crd/crd-printer-column manifests/things.crd.yaml:4"},
		},
		"an API in two CRDs": {
			edits: []edit{{"manifests/o.yaml", "", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: os.example.com\nspec:\n  group: \"example.com\"\n  scope: Cluster\n  names: {kind: Thing, plural: os}\n  versions: [{name: v1, served: true, storage: true}]\n"}, {csvFile, "    - name: things.example.com", "    - {name: os.example.com, version: v1, kind: Thing, description: d}\n    - name: things.example.com"}},
			want:  []string{"Error bundle/api-duplicate manifests/things.crd.yaml:1"},
		},
		"the account of the Deployment": {
			edits: []edit{{"manifests/sa.yaml", "", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op}\n"}},
			want:  []string{"Error bundle/service-account manifests/sa.yaml:1"},
		},
		"another account": {
			edits: []edit{{"manifests/sa.yaml", "", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: other}\n"}},
		},
		"a release in the name": {
			edits: []edit{{csvFile, "  version: 1.0.0", "  version: 1.0.0\n  release: \"2\""}, {csvFile, "name: op.v1.0.0", "name: op-v1.0.0-2"}},
		},
		"a release that is not in the name": {
			edits: []edit{{csvFile, "  version: 1.0.0", "  version: 1.0.0\n  release: \"2\""}},
			want:  []string{"Error bundle/release-name manifests/csv.yaml:4"},
		},
		"a release that substitutes": {
			edits: []edit{{csvFile, "  version: 1.0.0", "  version: 1.0.0\n  release: \"2\""}, {csvFile, "name: op.v1.0.0", "name: op-v1.0.0-2"}, {csvFile, "    capabilities", "    olm.substitutesFor: op.v1\n    capabilities"}},
			want:  []string{"Error bundle/release-substitutes manifests/csv.yaml:7"},
		},
		"a related image that is none": {
			edits: []edit{{csvFile, `- {name: op, image: "example.com/op:1"}`, `- {name: op, image: "oci://example.com/op:1"}`}},
			want:  []string{"Error bundle/related-image manifests/csv.yaml:24"},
		},
		"a related image without image": {
			edits: []edit{{csvFile, `- {name: op, image: "example.com/op:1"}`, "- {name: op}"}},
			want:  []string{"Error bundle/related-image manifests/csv.yaml:24"},
		},
		"a budget of nothing": {
			edits: []edit{{"manifests/budget.yaml", "50%", "0"}},
			want:  []string{"Error object/pod-disruption-budget manifests/budget.yaml:5"},
		},
		"a budget of no part": {
			edits: []edit{{"manifests/budget.yaml", "50%", "0%"}},
			want:  []string{"Error object/pod-disruption-budget manifests/budget.yaml:5"},
		},
		"a budget of everything": {
			edits: []edit{{"manifests/budget.yaml", "maxUnavailable: 50%", "minAvailable: 100%"}},
			want:  []string{"Error object/pod-disruption-budget manifests/budget.yaml:5"},
		},
		"a budget of some": {
			edits: []edit{{"manifests/budget.yaml", "maxUnavailable: 50%", "minAvailable: 1"}},
		},
		"a budget that protects pods that are not ready": {
			edits: []edit{{"manifests/budget.yaml", "AlwaysAllow", "IfHealthyBudget"}},
			want:  []string{"Warning object/pod-disruption-budget-unready manifests/budget.yaml:6"},
		},
		"a budget that leaves it to the default": {
			edits: []edit{{"manifests/budget.yaml", "\n  unhealthyPodEvictionPolicy: AlwaysAllow", ""}},
			want:  []string{"Warning object/pod-disruption-budget-unready manifests/budget.yaml:4"},
		},
		"a budget of another form": {
			edits: []edit{{"manifests/budget.yaml", "50%", "[1]"}},
			want:  []string{"Error object/pod-disruption-budget manifests/budget.yaml:1"},
		},
		"a class for everybody": {
			edits: []edit{{"manifests/priority.yaml", "value: 1", "value: 1\nglobalDefault: true"}},
			want:  []string{"Error object/priority-class manifests/priority.yaml:5"},
		},
		"a class that is not for everybody": {
			edits: []edit{{"manifests/priority.yaml", "value: 1", "value: 1\nglobalDefault: false"}},
		},
		"a class of another form": {
			edits: []edit{{"manifests/priority.yaml", "value: 1", "value: 1\nglobalDefault: maybe"}},
			want:  []string{"Error object/priority-class manifests/priority.yaml:5"},
		},
		"the right to write budgets": {
			edits: []edit{{"manifests/role.yaml", "verbs: [get]", "verbs: [patch]"}},
			want:  []string{"Warning object/rbac-pod-disruption-budget manifests/role.yaml:5"},
		},
		"every right on budgets": {
			edits: []edit{{"manifests/role.yaml", "verbs: [get]", `verbs: ["*"]`}},
			want:  []string{"Warning object/rbac-pod-disruption-budget manifests/role.yaml:5"},
		},
		"the right to change constraints": {
			edits: []edit{{"manifests/role.yaml", "verbs: [use]", "verbs: [update]"}},
			want:  []string{"Error object/rbac-security-context-constraints manifests/role.yaml:6"},
		},
		"the right to change own constraints": {
			edits: []edit{{"manifests/role.yaml", "resourceNames: [restricted], verbs: [use]", "resourceNames: [own], verbs: [update]"}},
		},
		"rules of another form": {
			edits: []edit{{"manifests/role.yaml", "rules:\n", "rules: x\nothers:\n"}},
			want:  []string{"Error object/rbac-security-context-constraints manifests/role.yaml:1"},
		},
		"no provider": {
			edits: []edit{{csvFile, "  provider: {name: Example}\n", ""}},
			want:  []string{"Error operatorhub/v2/provider manifests/csv.yaml:10"},
		},
		"a maintainer without email": {
			edits: []edit{{csvFile, ", email: jo@example.com", ""}},
			want:  []string{"Error operatorhub/v2/maintainer manifests/csv.yaml:16"},
		},
		"a maintainer with a bad email": {
			edits: []edit{{csvFile, "jo@example.com", "jo"}},
			want:  []string{"Error operatorhub/v2/maintainer manifests/csv.yaml:16"},
		},
		"a link without name": {
			edits: []edit{{csvFile, "name: Home, ", ""}},
			want:  []string{"Error operatorhub/v2/link manifests/csv.yaml:18"},
		},
		"a link to nowhere": {
			edits: []edit{{csvFile, "https://example.com", "example"}},
			want:  []string{"Error operatorhub/v2/link manifests/csv.yaml:18"},
		},
		"no version": {
			edits: []edit{{csvFile, "  version: 1.0.0\n", ""}},
			want:  []string{"Warning bundle/catalog-entry manifests/csv.yaml:10", "Error operatorhub/v2/version manifests/csv.yaml:10"},
		},
		"a version of two numbers": {
			edits: []edit{{csvFile, "  version: 1.0.0\n", "  version: v1.0\n"}},
			want:  []string{"Warning bundle/catalog-entry manifests/csv.yaml:11"},
		},
		"no icon": {
			edits: []edit{{csvFile, "  icon:\n  - {base64data: aWNvbg==, mediatype: image/png}\n", ""}},
			want:  []string{"Warning operatorhub/v2/icon manifests/csv.yaml:10"},
		},
		"two icons": {
			edits: []edit{{csvFile, "  - {base64data: aWNvbg==, mediatype: image/png}\n", "  - {base64data: aWNvbg==, mediatype: image/png}\n  - {base64data: aWNvbg==, mediatype: image/png}\n"}},
			want:  []string{"Error operatorhub/v2/icon manifests/csv.yaml:19"},
		},
		"an icon without data": {
			edits: []edit{{csvFile, "base64data: aWNvbg==", `base64data: ""`}},
			want:  []string{"Error operatorhub/v2/icon manifests/csv.yaml:19"},
		},
		"an icon of another type": {
			edits: []edit{{csvFile, "image/png", "image/webp"}},
			want:  []string{"Error operatorhub/v2/icon manifests/csv.yaml:19"},
		},
		"the deprecated validator": {
			edits: []edit{{csvFile, "Basic Install", "Basic"}, {csvFile, "Database, ", "Data, "}, {csvFile, "  provider: {name: Example}\n", ""}},
			want:  []string{"Warning operatorhub/v1/validator-deprecated :0", "Error operatorhub/v1/capabilities manifests/csv.yaml:7", "Error operatorhub/v1/categories manifests/csv.yaml:8", "Error operatorhub/v1/provider manifests/csv.yaml:10"},
		},
		"another capability": {
			edits: []edit{{csvFile, "Basic Install", "Basic"}},
			want:  []string{"Error standardcapabilities/capabilities manifests/csv.yaml:7"},
		},
		"another category": {
			edits: []edit{{csvFile, "Database, ", "Data, "}},
			want:  []string{"Error standardcategories/categories manifests/csv.yaml:8"},
		},
		"a category of the own set": {
			edits:   []edit{{csvFile, "Database, Storage", "Mine"}},
			options: func(o *Options) { o.Categories = []string{"Mine"}; o.Optional = mustSelect("standardcategories") },
		},
		"no requests": {
			edits: []edit{{csvFile, "{requests: {cpu: 10m, memory: 20Mi}}", "{}"}},
			want:  []string{"Warning good-practices/resource-requests manifests/csv.yaml:58"},
		},
		"requests for cpu alone": {
			edits: []edit{{csvFile, ", memory: 20Mi", ""}},
			want:  []string{"Warning good-practices/resource-requests manifests/csv.yaml:58"},
		},
		"a CRD without description": {
			edits: []edit{{csvFile, "      description: A thing\n", ""}},
			want:  []string{"Warning good-practices/crd-description manifests/csv.yaml:27"},
		},
		"a required CRD without description": {
			edits: []edit{{csvFile, "    owned:", "    required:\n    - {name: things.other.com, version: v1, kind: T}\n    owned:"}},
			want:  []string{"Warning good-practices/crd-description manifests/csv.yaml:27"},
		},
		"a channel of another name": {
			edits: []edit{{annotationsFile, "stable,fast", "stable,beta"}},
			want:  []string{"Warning good-practices/channel-name metadata/annotations.yaml:1"},
		},
		"the right to make CRDs": {
			edits: []edit{{csvFile, `{apiGroups: [""], resources: [pods], verbs: [get]}`, "{apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [create]}"}},
			want:  []string{"Warning good-practices/rbac-crd manifests/csv.yaml:39"},
		},
		"the right to read CRDs": {
			edits: []edit{{csvFile, `{apiGroups: [""], resources: [pods], verbs: [get]}`, "{apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get]}"}},
		},
		"a name without version": {
			edits: []edit{{csvFile, "name: op.v1.0.0", "name: op"}},
			want:  []string{"Warning good-practices/csv-name-version manifests/csv.yaml:4"},
		},
		"a name with another separator": {
			edits: []edit{{csvFile, "name: op.v1.0.0", "name: op-1.0.0"}},
			want:  []string{"Warning good-practices/csv-name-version manifests/csv.yaml:4"},
		},
		"an old budget": {
			edits: []edit{{"manifests/budget.yaml", "policy/v1", "policy/v1beta1"}},
			want:  []string{"Warning alpha-deprecated-apis/removed-api manifests/budget.yaml:1"},
		},
		"an old budget for a new Kubernetes": {
			edits:   []edit{{"manifests/budget.yaml", "policy/v1", "policy/v1beta1"}},
			options: func(o *Options) { o.KubeVersion = "v1.25" },
			want:    []string{"Error alpha-deprecated-apis/removed-api manifests/budget.yaml:1"},
		},
		"an old budget for an old Kubernetes": {
			edits:   []edit{{"manifests/budget.yaml", "policy/v1", "policy/v1beta1"}},
			options: func(o *Options) { o.KubeVersion = "1.24.9" },
			want:    []string{"Warning alpha-deprecated-apis/removed-api manifests/budget.yaml:1"},
		},
		"an old budget by minKubeVersion": {
			edits: []edit{{"manifests/budget.yaml", "policy/v1", "policy/v1beta1"}, {csvFile, "1.21.0", "1.25.0"}},
			want:  []string{"Error alpha-deprecated-apis/removed-api manifests/budget.yaml:1"},
		},
		"an old role, as the public catalog sees it": {
			edits: []edit{{"manifests/role.yaml", "io/v1\n", "io/v1beta1\n"}},
			want:  []string{"Warning operatorhub/v2/removed-api manifests/role.yaml:1"},
		},
		"an old resource of a CRD": {
			edits: []edit{{csvFile, "{kind: Deployment, version: apps/v1}", "{kind: CronJob, version: v1beta1}"}},
		},
		"an old resource of 1.26, for a new Kubernetes": {
			edits:   []edit{{csvFile, "{kind: Deployment, version: apps/v1}", "{kind: HorizontalPodAutoscaler, version: autoscaling/v2beta2}"}},
			options: func(o *Options) { o.KubeVersion = "v1.26" },
		},
		"rules on pod security policies": {
			edits: []edit{{csvFile, `{apiGroups: [""], resources: [pods], verbs: [get]}`, "{apiGroups: [policy], resources: [podsecuritypolicies], verbs: [use]}"}},
			want:  []string{"Warning alpha-deprecated-apis/removed-api manifests/csv.yaml:35"},
		},
		"removed APIs: without a last version": {
			edits:   []edit{{"manifests/priority.yaml", "io/v1\n", "io/v1beta1\n"}},
			options: func(o *Options) { o.IndexFile = []byte("FROM x\nLABEL com.redhat.openshift.versions=\"v4.6-v4.8\"\n") },
			want:    []string{"Error community/max-openshift manifests/csv.yaml:5"},
		},
		"removed APIs: properties in no form": {
			edits:   []edit{{"manifests/priority.yaml", "io/v1\n", "io/v1beta1\n"}, {csvFile, "    capabilities", "    olm.properties: \"{\"\n    capabilities"}},
			options: func(o *Options) { o.IndexFile = []byte("FROM x\nLABEL com.redhat.openshift.versions=\"v4.6-v4.8\"\n") },
			want:    []string{"Warning install/properties-annotation-form manifests/csv.yaml:7", "Warning csv/csv-properties-annotation manifests/csv.yaml:7", "Error community/max-openshift manifests/csv.yaml:7"},
		},
		"removed APIs: no property": {
			edits:   []edit{{"manifests/priority.yaml", "io/v1\n", "io/v1beta1\n"}, {csvFile, "    capabilities", "    olm.properties: '[]'\n    capabilities"}},
			options: func(o *Options) { o.IndexFile = []byte("FROM x\nLABEL com.redhat.openshift.versions=\"v4.6-v4.8\"\n") },
			want:    []string{"Warning csv/csv-properties-annotation manifests/csv.yaml:7", "Error community/max-openshift manifests/csv.yaml:7"},
		},
		"removed APIs: a version that is none": {
			edits:   []edit{{"manifests/priority.yaml", "io/v1\n", "io/v1beta1\n"}, {csvFile, "    capabilities", "    olm.properties: '[{\"type\": \"olm.maxOpenShiftVersion\", \"value\": \"new\"}]'\n    capabilities"}},
			options: func(o *Options) { o.IndexFile = []byte("FROM x\nLABEL com.redhat.openshift.versions=\"v4.6-v4.8\"\n") },
			want:    []string{"Warning csv/csv-properties-annotation manifests/csv.yaml:7", "Error community/max-openshift manifests/csv.yaml:7"},
		},
		"removed APIs: a version that is too new": {
			edits:   []edit{{"manifests/priority.yaml", "io/v1\n", "io/v1beta1\n"}, {csvFile, "    capabilities", "    olm.properties: '[{\"type\": \"olm.maxOpenShiftVersion\", \"value\": \"4.9\"}]'\n    capabilities"}},
			options: func(o *Options) { o.IndexFile = []byte("FROM x\nLABEL com.redhat.openshift.versions=\"v4.6-v4.8\"\n") },
			want:    []string{"Warning csv/csv-properties-annotation manifests/csv.yaml:7", "Error community/max-openshift manifests/csv.yaml:7"},
		},
		"removed APIs: a version that is too exact": {
			edits:   []edit{{"manifests/priority.yaml", "io/v1\n", "io/v1beta1\n"}, {csvFile, "    capabilities", "    olm.properties: '[{\"type\": \"olm.maxOpenShiftVersion\", \"value\": \"4.8.1\"}]'\n    capabilities"}},
			options: func(o *Options) { o.IndexFile = []byte("FROM x\nLABEL com.redhat.openshift.versions=\"v4.6-v4.8\"\n") },
			want:    []string{"Warning csv/csv-properties-annotation manifests/csv.yaml:7", "Warning community/max-openshift manifests/csv.yaml:7"},
		},
		"removed APIs: kept away": {
			edits: []edit{{"manifests/priority.yaml", "io/v1\n", "io/v1beta1\n"}, {csvFile, "    capabilities", "    olm.properties: '[{\"type\": \"olm.maxOpenShiftVersion\", \"value\": \"4.8\"}]'\n    capabilities"}},
			options: func(o *Options) {
				o.IndexFile = []byte("LABEL com.redhat.openshift.versions==v4.8")
				o.Optional = mustSelect("community")
			},
			want: []string{"Warning csv/csv-properties-annotation manifests/csv.yaml:7"},
		},
		"removed APIs: no catalog": {
			edits: []edit{{"manifests/priority.yaml", "io/v1\n", "io/v1beta1\n"}, {csvFile, "    capabilities", "    olm.properties: '[{\"type\": \"olm.maxOpenShiftVersion\", \"value\": \"4.8\"}]'\n    capabilities"}},
			want:  []string{"Warning community/index-file :0", "Warning csv/csv-properties-annotation manifests/csv.yaml:7"},
		},
		"removed APIs: a catalog without label": {
			edits:   []edit{{"manifests/priority.yaml", "io/v1\n", "io/v1beta1\n"}, {csvFile, "    capabilities", "    olm.properties: '[{\"type\": \"olm.maxOpenShiftVersion\", \"value\": \"4.8\"}]'\n    capabilities"}},
			options: func(o *Options) { o.IndexFile = []byte("FROM x\n") },
			want:    []string{"Error community/index-file :0", "Warning csv/csv-properties-annotation manifests/csv.yaml:7"},
		},
		"removed APIs: a catalog for all versions": {
			edits:   []edit{{"manifests/priority.yaml", "io/v1\n", "io/v1beta1\n"}, {csvFile, "    capabilities", "    olm.properties: '[{\"type\": \"olm.maxOpenShiftVersion\", \"value\": \"4.8\"}]'\n    capabilities"}},
			options: func(o *Options) { o.IndexFile = []byte("LABEL com.redhat.openshift.versions=v4.6\n") },
			want:    []string{"Error community/index-file :0", "Warning csv/csv-properties-annotation manifests/csv.yaml:7"},
		},
		"removed APIs: a catalog for later versions": {
			edits:   []edit{{"manifests/priority.yaml", "io/v1\n", "io/v1beta1\n"}, {csvFile, "    capabilities", "    olm.properties: '[{\"type\": \"olm.maxOpenShiftVersion\", \"value\": \"4.8\"}]'\n    capabilities"}},
			options: func(o *Options) { o.IndexFile = []byte("LABEL com.redhat.openshift.versions=v4.6-v4.9\n") },
			want:    []string{"Error community/index-file :0", "Warning csv/csv-properties-annotation manifests/csv.yaml:7"},
		},
		"images: cannot be inspected": {
			edits:   []edit{{csvFile, "image: example.com/op:1\n", "image: example.com/none:1\n"}},
			options: images(`example.com/op:1`, `linux/amd64`),
			want:    []string{"Warning multiarch/image-uninspectable manifests/csv.yaml:57"},
		},
		"images: lack a promised platform": {
			edits: []edit{{csvFile, "  name: op.v1.0.0\n", "  name: op.v1.0.0\n  labels: {operatorframework.io/arch.amd64: supported, operatorframework.io/arch.arm64: supported}\n"}},
			want:  []string{"Error multiarch/image-platform manifests/csv.yaml:58"},
		},
		"images: of more platforms than promised": {
			options: images(`example.com/op:1`, `linux/amd64 linux/s390x`),
			want:    []string{"Warning multiarch/node-affinity manifests/csv.yaml:48", "Warning multiarch/image-platform manifests/csv.yaml:57"},
		},
		"images: related, of fewer platforms": {
			edits:   []edit{{csvFile, `- {name: op, image: "example.com/op:1"}`, "- {name: op, image: \"example.com/op:1\"}\n  - {name: r, image: \"example.com/r:1\"}"}},
			options: images(`example.com/op:1`, `linux/amd64 linux/arm64`, `example.com/r:1`, `linux/amd64`),
			want:    []string{"Warning multiarch/image-platform manifests/csv.yaml:25", "Warning multiarch/node-affinity manifests/csv.yaml:49", "Warning multiarch/image-platform manifests/csv.yaml:58"},
		},
		"images: of another container, of fewer platforms": {
			edits:   []edit{{csvFile, "              - name: manager\n", "              - {name: kube-rbac-proxy, image: \"example.com/r:1\", resources: {requests: {cpu: 1, memory: 1Mi}}}\n              - name: operator\n"}},
			options: images(`example.com/op:1`, `linux/amd64`, `example.com/r:1`, `linux/arm64`),
			want:    []string{"Error multiarch/image-platform manifests/csv.yaml:56"},
		},
		"no affinity": {
			edits: []edit{{csvFile, "affinity:", "tolerations: []\n              x:"}},
			want:  []string{"Warning multiarch/node-affinity manifests/csv.yaml:46"},
		},
		"an affinity to more than is offered": {
			edits: []edit{{csvFile, "values: [amd64]", "values: [amd64, arm64]"}},
			want:  []string{"Warning multiarch/node-affinity manifests/csv.yaml:48"},
		},
		"an aggregated API": {
			edits: []edit{{csvFile, "  customresourcedefinitions:\n", "  apiservicedefinitions:\n    owned:\n    - {name: others, group: x.example.com, version: v1, kind: Other, deploymentName: op}\n  customresourcedefinitions:\n"}, {csvFile, "alm-examples: '[", `alm-examples: '[{"apiVersion": "x.example.com/v1", "kind": "Other"}, `}},
			want:  []string{"Error olm-v1/v1-apiservice manifests/csv.yaml:26"},
		},
		"several namespaces alone": {
			edits: []edit{{csvFile, "type: AllNamespaces", "type: MultiNamespace"}},
			want:  []string{"Error olm-v1/v1-install-modes manifests/csv.yaml:21"},
		},
		"several namespaces or one": {
			edits: []edit{{csvFile, "  - {type: AllNamespaces, supported: true}", "  - {type: MultiNamespace, supported: true}\n  - {type: SingleNamespace, supported: true}"}},
		},
		"a conversion at a port that is none": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: x, namespace: ns, port: 70000}}}\n"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:11"},
		},
		"a conversion at a path without slash": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: x, namespace: ns, path: convert}}}\n"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:11"},
		},
		"a conversion at a path with an empty step": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: x, namespace: ns, path: /a//b}}}\n"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:11"},
		},
		"a conversion at a path with steps": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: x, namespace: ns, path: /a/b/, port: 443}}}\n"}},
		},
		"a conversion over plain HTTP": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1], clientConfig: {url: \"http://example.com\"}}\n"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:11"},
		},
		"a conversion with a query": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1], clientConfig: {url: \"https://example.com?a=b\"}}\n"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:11"},
		},
		"a conversion with odd reviews": {
			edits: []edit{{crdFile, "strategy: None\n", "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1, v1, V2], clientConfig: {service: {name: x, namespace: ns, port: 443}}}\n"}},
			want:  []string{"Error crd/crd-conversion manifests/things.crd.yaml:11", "Error crd/crd-conversion manifests/things.crd.yaml:11"},
		},
		"an unknown install mode": {
			edits: []edit{{csvFile, "  - {type: AllNamespaces, supported: true}\n", "  - {type: AllNamespaces, supported: true}\n  - {type: All, supported: true}\n"}},
			want:  []string{"Warning csv/csv-install-mode-unknown manifests/csv.yaml:23"},
		},
		"a label that is none": {
			edits: []edit{{"manifests/priority.yaml", "metadata: {name: op}", "metadata:\n  name: op\n  labels: {\"a b\": x}"}},
			want:  []string{"Error bundle/object-metadata manifests/priority.yaml:5"},
		},
		"a value that no label has": {
			edits: []edit{{"manifests/priority.yaml", "metadata: {name: op}", "metadata:\n  name: op\n  labels: {a: x!}"}},
			want:  []string{"Error bundle/object-metadata manifests/priority.yaml:5"},
		},
		"a label that is a number": {
			edits: []edit{{"manifests/priority.yaml", "metadata: {name: op}", "metadata:\n  name: op\n  labels: {a: 1}"}},
			want:  []string{"Error bundle/object-metadata manifests/priority.yaml:5"},
		},
		"labels that are a list": {
			edits: []edit{{"manifests/priority.yaml", "metadata: {name: op}", "metadata:\n  name: op\n  labels: [a]"}},
			want:  []string{"Error bundle/object-metadata manifests/priority.yaml:5"},
		},
		"labels that are nothing": {
			edits: []edit{{"manifests/priority.yaml", "metadata: {name: op}", "metadata: {name: op, labels: null, annotations: {Example.com/A_b: null}}"}},
		},
		"an annotation that is none": {
			edits: []edit{{"manifests/priority.yaml", "metadata: {name: op}", "metadata:\n  name: op\n  annotations: {a b: x}"}},
			want:  []string{"Error bundle/object-metadata manifests/priority.yaml:5"},
		},
		"a namespace that is none": {
			edits: []edit{{"manifests/priority.yaml", "metadata: {name: op}", "metadata:\n  name: op\n  namespace: a.b"}},
			want:  []string{"Error bundle/object-metadata manifests/priority.yaml:5"},
		},
		"a namespace of the ClusterServiceVersion that is none": {
			edits: []edit{{csvFile, "  name: op.v1.0.0\n", "  name: op.v1.0.0\n  namespace: \"{{ namespace }}\"\n"}},
			want:  []string{"Warning bundle/object-metadata manifests/csv.yaml:5"},
		},
		"a package that no catalog can hold": {
			edits: []edit{{annotationsFile, "package.v1: op", "package.v1: op_"}},
			want:  []string{"Error bundle/catalog-entry metadata/annotations.yaml:5"},
		},
		"a package with capitals, which other tools refuse": {
			edits: []edit{{annotationsFile, "package.v1: op", "package.v1: Op"}},
			want:  []string{"Warning bundle/catalog-entry metadata/annotations.yaml:5"},
		},
		"a property of another package": {
			edits: []edit{{"metadata/properties.yaml", "- type: anything\n  value: [1]", "- type: olm.package\n  value: {packageName: other, version: 1.0.0}"}},
			want:  []string{"Error bundle/catalog-entry metadata/properties.yaml:1"},
		},
		"two packages": {
			edits: []edit{{"metadata/properties.yaml", "- type: anything\n  value: [1]", "- type: olm.package\n  value: {packageName: op, version: 1.0.0}\n- type: olm.package\n  value: {packageName: op, version: 1.0.1}"}},
			want:  []string{"Error bundle/catalog-entry metadata/properties.yaml:1"},
		},
		"a manifest among the properties": {
			edits: []edit{{"metadata/properties.yaml", "- type: anything\n  value: [1]", "- type: olm.bundle.object\n  value: {data: x}"}},
			want:  []string{"Error bundle/catalog-entry metadata/properties.yaml:1"},
		},
		"a package annotation in the CSV": {
			edits: []edit{{csvFile, "    capabilities: Basic Install\n", "    capabilities: Basic Install\n    olm.properties: '[{\"type\": \"olm.package\", \"value\": {\"packageName\": \"other\", \"version\": \"1.0.0\"}}]'\n"}},
			want:  []string{"Warning csv/csv-properties-annotation manifests/csv.yaml:8", "Error bundle/catalog-entry metadata/properties.yaml:1"},
		},
		"a constraint on nothing": {
			edits: []edit{{"metadata/properties.yaml", "gvk: {group: g, version: v1, kind: K}", "any: {constraints: [{gvk: {group: g, version: v1}}, {package: {versionRange: '>1.0.0'}}]}"}},
			want:  []string{"Error format/property metadata/properties.yaml:6", "Error format/property metadata/properties.yaml:6"},
		},
	}
}
