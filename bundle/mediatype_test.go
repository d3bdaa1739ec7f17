package bundle

import "testing"

func TestDetectMediaType(t *testing.T) {
	chart := File{Name: "manifests/Chart.yaml", Data: []byte("apiVersion: v2\nname: x\nversion: 1.0.0\n")}
	csv := File{Name: "manifests/csv.yaml", Data: []byte(testCSVYAML)}
	service := File{Name: "manifests/service.yaml", Data: []byte("apiVersion: v1\nkind: Service\nmetadata: {name: x}")}
	tests := map[string]struct {
		files []File
		want  string
	}{
		"a chart":                     {[]File{service, chart, csv}, MediaTypeHelm},
		"a chart without version":     {[]File{{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: x\n")}}, MediaTypePlain},
		"a ClusterServiceVersion":     {[]File{service, csv}, MediaType},
		"other objects":               {[]File{service, {Name: "broken.yaml", Data: []byte("a: [")}}, MediaTypePlain},
		"no YAML":                     {[]File{{Name: "README.md", Data: []byte("hello: you")}}, ""},
		"nothing but broken YAML":     {[]File{{Name: "broken.yaml", Data: []byte("a: [")}}, ""},
		"a list is nothing to deploy": {[]File{{Name: "list.yaml", Data: []byte("[a]")}}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := DetectMediaType(tc.files)
			if got != tc.want || ok != (tc.want != "") {
				t.Errorf("got %q, %t, want %q", got, ok, tc.want)
			}
		})
	}
}
