package member

import "github.com/idemgen/idemgen/runtime/idemtype"

// fetcher controls which partitions the client fetches, and from where.
type fetcher struct {
	client Fetcher
	// err is the first error after which it is unknown what the client fetches. It ends the run;
	// the next run starts from the ledger.
	err error
}

func (f *fetcher) check(err error) {
	if f.err == nil {
		f.err = err
	}
}

// read reads partitions from the positions that the sink returned: it sets offset and leader epoch
// explicitly, then accepts records, and finally calls Resume, because the client may keep a pause
// from an earlier assignment. If must is true, it calls Assign even if there are no partitions.
func (f *fetcher) read(list []*Partition, must bool) {
	var added []At
	for _, p := range list {
		if !p.assigned {
			p.assigned = true
			added = append(added, p.start())
		} else {
			f.seek(p)
		}
	}
	if must || len(added) > 0 {
		f.check(f.client.Assign(added))
	}
	if f.err != nil { // the client may fetch from elsewhere: nothing of it is accepted
		return
	}
	for _, p := range list {
		p.lost, p.end = false, 0
		p.cursor.Begin()
		p.silence.heard()
		f.resume(p)
	}
}

// readAgain reads a partition from its position, although the client stopped fetching it.
func (f *fetcher) readAgain(p *Partition) {
	if p.cursor.IsRead() {
		p.lost = false
		p.cursor.BeginAgain()
		f.seek(p)
	}
}

func (f *fetcher) seek(p *Partition) { f.check(f.client.Seek(p.start())) }

func (f *fetcher) pause(p *Partition) {
	if p.assigned && !p.paused {
		p.paused = true
		f.check(f.client.Pause(p.delivery.Partition))
	}
}

func (f *fetcher) resume(p *Partition) {
	p.paused = false
	f.check(f.client.Resume(p.delivery.Partition))
}

// unassign calls Unassign of the client even if none of the partitions was assigned yet.
func (f *fetcher) unassign(list []*Partition) {
	var assigned []idemtype.Partition
	for _, p := range list {
		if p.assigned {
			assigned = append(assigned, p.delivery.Partition)
		}
	}
	f.check(f.client.Unassign(assigned))
}
