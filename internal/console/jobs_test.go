package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// jobQuery is a request of the session of a tour.
func (v *tour) jobQuery() *query { return &query{session: v.console.sessions.get(v.cookie.Value)} }

// TestJobs: what is begun goes on when its page is gone, tells how far it is, and its failure is shown until it was seen.
func TestJobs(t *testing.T) {
	v := newTour(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	told, goOn := make(chan struct{}), make(chan struct{})
	must.NoError(t, v.console.runner.begin(ctx, v.jobQuery(), "Removal of x", "/installed", func(ctx context.Context, tell func(string)) (string, error) {
		for i := range maxSteps + 5 {
			tell(fmt.Sprintf("step %d %s", i, hostile))
		}
		close(told)
		<-goOn
		return "", errors.Join(ctx.Err(), errors.New("the finalizer "+hostile+" stays"))
	}))
	cancel() // the page is closed
	<-told
	page := v.shows(http.StatusOK, "/jobs")
	must.Contain(t, "under way", page.text("#jobs"), "Removal of x : under way, step 54 "+hostile, fmt.Sprintf("%d steps", maxSteps), "Stop Removal of x")
	again := v.console.runner.begin(t.Context(), v.jobQuery(), "Removal of x", "/", func(context.Context, func(string)) (string, error) { return "", nil })
	must.Fail(t, "the same twice", again, "it is under way already")
	close(goOn)
	job := v.ends()[0]
	must.Equal(t, "its page did not end it", job.Failure, "the finalizer "+hostile+" stays")
	for range 2 {
		page = v.shows(http.StatusOK, "/installed")
		must.Contain(t, "failed", page.text("#jobs"), "What you have begun", "Removal of x : failed", "the finalizer "+hostile+" stays", "What to do:")
	}
	must.Equal(t, "for programs", len(answers[jobsPage](v, "/jobs").Jobs), 1)
	v.does("/jobs/" + job.ID + "/end")
	must.Equal(t, "seen", len(answers[jobsPage](v, "/jobs").Jobs), 0)
	v.refuses(http.StatusNotFound, "/jobs/"+job.ID+"/end")
}

// TestJobsAreBounded: a session has so many at once, and failures that were not seen are kept.
func TestJobsAreBounded(t *testing.T) {
	v := newTour(t, nil)
	stop := make(chan struct{})
	begin := func(n int) error {
		return v.console.runner.begin(t.Context(), v.jobQuery(), fmt.Sprintf("job %d", n), "/", func(ctx context.Context, _ func(string)) (string, error) {
			select {
			case <-stop:
			case <-ctx.Done():
			}
			return "", errors.New("it fails")
		})
	}
	for n := range maxRunning {
		must.NoError(t, begin(n))
	}
	must.Fail(t, "one more", begin(maxRunning), "3 things that you have begun are under way")
	v.does("/jobs/1/end") // stops it
	must.NoError(t, begin(maxRunning))
	close(stop)
	for n := maxRunning + 1; len(v.ends()) < maxJobs; n++ {
		must.NoError(t, begin(n))
	}
	must.Fail(t, "too many failures", begin(99), "too many failures that you have not dismissed")
	must.Eventually(t, "all have ended", func() error {
		if n := len(v.console.runner.slots); n > 0 {
			return fmt.Errorf("%d run", n)
		}
		return nil
	})
	other := newTour(t, nil)
	for range allRunning {
		other.console.runner.slots <- struct{}{}
	}
	err := other.console.runner.begin(t.Context(), other.jobQuery(), "x", "/", func(context.Context, func(string)) (string, error) { return "", nil })
	must.Fail(t, "of all sessions", err, "too much is under way")
	must.Equal(t, "it is not shown", len(other.jobQuery().jobs.shown(time.Now())), 0)
}

// TestJobsThatAreDone are forgotten after a while, and failures are not.
func TestJobsThatAreDone(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var j jobs
	must.NoError(t, j.add(&Job{Title: "done", Ended: now, cancel: func() {}}, now))
	must.NoError(t, j.add(&Job{Title: "failed", Ended: now, Failure: "x", cancel: func() {}}, now))
	must.Equal(t, "before", len(j.shown(now.Add(shownFor))), 2)
	after := j.shown(now.Add(shownFor + time.Second))
	must.Equal(t, "after", []string{after[0].Title, fmt.Sprint(len(after))}, []string{"failed", "1"})
	for n := range maxJobs - 1 {
		must.NoError(t, j.add(&Job{Title: fmt.Sprint("more ", n), Ended: now.Add(shownFor), cancel: func() {}}, now.Add(shownFor)))
	}
	must.NoError(t, j.add(&Job{Title: "newest", cancel: func() {}}, now.Add(shownFor)))
	all := j.shown(now.Add(shownFor))
	must.Equal(t, "bounded, without a failure going", []string{fmt.Sprint(len(all)), all[0].Title, all[len(all)-1].Title}, []string{fmt.Sprint(maxJobs), "newest", "failed"})
	if !strings.HasPrefix(all[1].Title, "more") {
		t.Errorf("%v", all)
	}
}

// TestJobsOnAPage: a page shows what runs, what has failed and the last thing that is done; the page of jobs shows all.
func TestJobsOnAPage(t *testing.T) {
	ended := time.Unix(1, 0)
	all := []Job{{Title: "done last", Ended: ended}, {Title: "runs"}, {Title: "done before", Ended: ended}, {Title: "failed", Ended: ended, Failure: "x"}}
	titles := func(path string) (out []string) {
		for _, job := range onPage(path, all) {
			out = append(out, job.Title)
		}
		return out
	}
	must.Equal(t, "a page", titles("/installed"), []string{"done last", "runs", "failed"})
	must.Equal(t, "their own", titles("/jobs"), []string{"done last", "runs", "done before", "failed"})
}

// TestJobsOfATitle: what follows something that was asked for once more takes the place of what followed it before.
func TestJobsOfATitle(t *testing.T) {
	var j jobs
	ended := 0
	now := time.Unix(1, 0)
	for range 2 {
		must.NoError(t, j.add(&Job{Title: "Upgrade of x", cancel: func() { ended++ }}, now))
		j.endTitled("Upgrade of x")
	}
	must.NoError(t, j.add(&Job{Title: "Removal of y", cancel: func() {}}, now))
	j.endTitled("Upgrade of x")
	must.Equal(t, "ended, left", []int{ended, len(j.shown(now))}, []int{2, 1})
}
