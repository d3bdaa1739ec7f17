package alerts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// dashboard is what is checked of config/monitoring/dashboard.json.
type dashboard struct {
	ID         any
	UID        any
	Templating struct{ List []variable }
	Panels     []panel
}

// variable is what a reader chooses at the top.
type variable struct {
	Name, Type, Label, Definition string
}

// panel is one of them, or the title of those that follow.
type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []struct{ Expr string }
	FieldConfig              struct {
		Defaults struct{ Unit string }
	}
}

// query is a query with the place where it is.
type query struct{ where, expression string }

func readDashboard(t *testing.T) (dashboard, string) {
	t.Helper()
	text := string(must.Value(os.ReadFile(filepath.Join("..", "..", "config", "monitoring", "dashboard.json")))(t))
	var d dashboard
	must.NoErrorf(t, json.Unmarshal([]byte(text), &d), "read the dashboard")
	return d, text
}

// chosen is what Grafana puts in the place of variables.
var chosen = strings.NewReplacer("$__rate_interval", "5m", "$job", "fairlead-manager-metrics", "$namespace", ".*")

// labelValues is how a variable gets its values.
var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// queries are those of the dashboard: of panels, and of variables.
func (d dashboard) queries(t *testing.T) []query {
	t.Helper()
	var all []query
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, query{"panel " + p.Title, chosen.Replace(target.Expr)})
		}
	}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		found := labelValues.FindStringSubmatch(v.Definition)
		if found == nil {
			t.Fatalf("variable %s: %q is no label_values(SELECTOR, LABEL)", v.Name, v.Definition)
		}
		all = append(all, query{"variable " + v.Name, "count by(" + found[2] + ") (" + found[1] + ")"})
	}
	return all
}

// TestDashboardCanBeRead: each panel says what it shows and in which unit, is at a place of its own, and asks the source and the manager that the reader chooses.
func TestDashboardCanBeRead(t *testing.T) {
	d, text := readDashboard(t)
	if d.ID != nil || d.UID != nil {
		t.Errorf("id %v and uid %v are for the Grafana that imports the dashboard to choose", d.ID, d.UID)
	}
	for _, found := range regexp.MustCompile(`"uid": *"([^"]*)"`).FindAllStringSubmatch(text, -1) {
		must.Equal(t, "a data source", found[1], "${datasource}")
	}
	variables := map[string]string{}
	for _, v := range d.Templating.List {
		variables[v.Name] = v.Type
	}
	must.Equal(t, "variables", variables, map[string]string{"datasource": "datasource", "job": "query", "namespace": "query"})
	ids, cells, titles := map[int]bool{}, map[[2]int]string{}, map[string]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || titles[p.Title] || p.Title == "" {
			t.Errorf("panel %d %q: the id or the title is there twice, or missing", p.ID, p.Title)
		}
		ids[p.ID], titles[p.Title] = true, true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := cells[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %q covers %q, or is wider than the page", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if !strings.HasSuffix(p.Description, ".") || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("panel %q: description %q, unit %q, %d queries: it needs all of them", p.Title, p.Description, p.FieldConfig.Defaults.Unit, len(p.Targets))
		}
		for _, target := range p.Targets {
			must.Contain(t, "a query of panel "+p.Title, target.Expr, `job=~"$job"`)
		}
	}
}
