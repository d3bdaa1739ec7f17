package resolve

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// catalogLike makes requests for packages of many versions, each of which needs two packages further on, in one problem.
// With broken, the versions but the last of every tenth package need what nobody provides.
func catalogLike(requests, versions int, broken bool) *Problem {
	p := &Problem{}
	all := make([][]Var, requests+10)
	for i := range all {
		for j := range versions {
			all[i] = append(all[i], p.Var(fmt.Sprintf("package%03d.v%03d", i, j)))
		}
		p.AtMostOne(all[i], Origin{Text: fmt.Sprintf("one package%03d", i)})
	}
	for i := range requests {
		v := p.Var(fmt.Sprintf("request%03d", i))
		p.Require(v, Origin{Text: fmt.Sprintf("request %d", i)})
		p.Depends(v, all[i], Origin{Text: fmt.Sprintf("request %d needs", i)})
		for j, v := range all[i] {
			p.Depends(v, all[i+2], Origin{Field: "needs[0]", Text: "needs"})
			p.Depends(v, all[i+9], Origin{Field: "needs[1]", Text: "needs"})
			if broken && i%10 == 0 && j != versions-1 {
				p.Depends(v, nil, Origin{Field: "needs[2]", Text: "nobody provides"})
			}
		}
	}
	return p
}

// staircase makes one request with n candidates, each of which needs one of three things; all but those of the last
// candidate are impossible, each for a reason of its own.
func staircase(n int) *Problem {
	p := &Problem{}
	request := p.Var("request")
	p.Require(request, Origin{Text: "request"})
	var candidates []Var
	for i := range n {
		v := p.Var(fmt.Sprintf("candidate%05d", i))
		var needs []Var
		for j := range 3 {
			w := p.Var(fmt.Sprintf("need%05d.%d", i, j))
			needs = append(needs, w)
			if i != n-1 {
				p.Depends(w, nil, Origin{Text: "nobody provides"})
			}
		}
		p.Depends(v, needs, Origin{Text: "needs"})
		candidates = append(candidates, v)
	}
	p.Depends(request, candidates, Origin{Text: "request needs"})
	p.AtMostOne(candidates, Origin{Text: "one candidate"})
	return p
}

func benchmark(b *testing.B, p *Problem, wantAnswer bool) {
	b.Helper()
	b.ReportAllocs()
	var none *Unsatisfiable
	for b.Loop() {
		s, err := Solve(context.Background(), p, Options{})
		if (err == nil) != wantAnswer || err != nil && !errors.As(err, &none) {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.Steps), "steps")
	}
}

// BenchmarkChain shows the cost against the number of candidates: 1,000 packages in a chain, some versions each.
func BenchmarkChain(b *testing.B) {
	for _, versions := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("candidates=%d", 1000*versions), func(b *testing.B) {
			benchmark(b, chainOf(1000, versions), true)
		})
	}
}

// BenchmarkCandidates shows the cost of one request with many candidates of which only the last is possible.
func BenchmarkCandidates(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			benchmark(b, staircase(n), true)
		})
	}
}

func BenchmarkMutual200(b *testing.B) { benchmark(b, mutual(200, 3), true) }

func BenchmarkRequests(b *testing.B) {
	for _, n := range []int{1, 30, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmark(b, catalogLike(n, 30, true), true) })
	}
}

// BenchmarkUnsatisfiable explains why one of 100 requests cannot be met by any of its 85 candidates.
func BenchmarkUnsatisfiable(b *testing.B) {
	p := catalogLike(100, 85, true)
	for _, v := range []string{"package050.v084"} {
		p.Forbid(p.Var(v), Origin{Text: v + " is deprecated"})
	}
	benchmark(b, p, false)
}

// BenchmarkLongCore minimises a core of which all 3,000 clauses are needed.
func BenchmarkLongCore(b *testing.B) {
	p := chainOf(1000, 1)
	p.Forbid(p.Var("package0999.v00"), Origin{Text: "out"})
	benchmark(b, p, false)
}
