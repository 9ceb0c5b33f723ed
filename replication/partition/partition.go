package partition

import (
	"errors"
	"slices"
)

// The transition table. Rows are what the machine is, columns what arrives;
// E is an update's leader epoch, e the machine's own (-1 at first).
//
//	           | update E > e, I lead  | update E > e, other leads | update E <= e | stop      | fetch of a follower | append
//	-----------+-----------------------+---------------------------+---------------+-----------+---------------------+-----------
//	Idle       | Leader, followers     | Follower                  | ErrStaleEpoch | Idle      | ErrNotLeader        | ErrNotLeader
//	           | unknown, HW from disk |                           |               |           |                     |
//	Leader     | Leader, followers     | Follower, ISR change and  | ErrStaleEpoch | Idle      | LEO, caught-up time,| HW may move
//	           | keep their progress,  | followers forgotten       |               |           | HW, maybe expansion |
//	           | ISR change forgotten  |                           |               |           |                     |
//	Follower   | Leader, followers     | Follower                  | ErrStaleEpoch | Idle      | ErrNotLeader        | (from the
//	           | unknown, HW kept      |                           |               |           |                     | leader) HW
//
// Within Leader the ISR has a state of its own:
//
//	          | propose expansion | propose shrink | accepted       | refused, surely not applied | outcome unknown
//	----------+-------------------+----------------+----------------+-----------------------------+----------------
//	Committed | Expanding         | Shrinking      | –              | –                           | –
//	Expanding | –                 | –              | Committed, new | Committed, as before        | Expanding
//	Shrinking | –                 | –              | Committed, new | Committed, as before        | Shrinking
//
// A newer update ends a change in flight whatever became of it.

// Role is what this broker is for the partition.
type Role int8

// The roles. Idle is also what a stopped replica is.
const (
	Idle Role = iota
	Leader
	Follower
)

// String names the role.
func (r Role) String() string { return [...]string{"idle", "leader", "follower"}[r] }

// What a partition refuses.
var (
	// ErrStaleEpoch: the update's leader epoch is not newer.
	ErrStaleEpoch = errors.New("leader epoch is not newer than the current one")
	// ErrNotLeader: only a leader can do this.
	ErrNotLeader = errors.New("not the leader of the partition")
	// ErrUnknownReplica: the fetching broker is not assigned to the partition.
	ErrUnknownReplica = errors.New("not an assigned replica of the partition")
	// ErrStaleBrokerEpoch: the fetch comes from an earlier life of its broker.
	ErrStaleBrokerEpoch = errors.New("fetch from an earlier life of the broker")
)

// NoEpoch is the leader epoch before the first update.
const NoEpoch int32 = -1

// unknownOffset is a follower's LEO before it fetched.
const unknownOffset int64 = -1

// Partition is the state of one replica. Create it with [New].
type Partition struct {
	self   int32
	lagMax int64 // milliseconds a follower may be behind
	minISR int   // min.insync.replicas

	role           Role
	leader         int32
	leaderEpoch    int32
	partitionEpoch int32
	replicas       []int32

	isr      []int32 // committed
	proposed []int32 // in flight; nil when none is
	maximal  []int32 // isr, or the larger of isr and proposed

	followers  []follower // the other replicas, in the order of replicas; leader only
	leo        int64
	hw         int64
	epochStart int64 // leader only: LEO when the epoch began
}

// New is a replica on broker self that no update has reached yet. minISR is
// min.insync.replicas, lagMax replica.lag.time.max.ms.
func New(self int32, minISR int, lagMax int64) *Partition {
	return &Partition{self: self, minISR: minISR, lagMax: lagMax, leader: -1, leaderEpoch: NoEpoch, partitionEpoch: -1}
}

// Update is what the controller says of the partition (LeaderAndIsr), with
// what the log says of itself at that moment.
type Update struct {
	Leader, LeaderEpoch, PartitionEpoch int32
	Replicas, ISR                       []int32
	LEO                                 int64 // end of the local log
	HW                                  int64 // checkpointed; only the first update of a life reads it
	Now                                 int64 // milliseconds
}

// Changed says what an update did.
type Changed struct {
	Role     Role
	NewEpoch bool // the role began or was confirmed under a newer leader epoch
	NewRole  bool
}

// Apply takes an update over, or returns [ErrStaleEpoch] and changes nothing.
func (p *Partition) Apply(u *Update) (Changed, error) {
	if u.LeaderEpoch <= p.leaderEpoch {
		return Changed{Role: p.role}, ErrStaleEpoch
	}
	was := p.role
	if was == Idle {
		p.hw = max(min(u.HW, u.LEO), 0)
	}
	p.leader, p.leaderEpoch, p.partitionEpoch = u.Leader, u.LeaderEpoch, u.PartitionEpoch
	p.replicas, p.leo = slices.Clone(u.Replicas), u.LEO
	counted := p.maximal
	p.setISR(u.ISR)
	if u.Leader == p.self {
		p.lead(u, was, counted)
	} else {
		p.role, p.followers = Follower, nil
		p.hw = min(p.hw, p.leo)
	}
	return Changed{Role: p.role, NewEpoch: true, NewRole: was != p.role}, nil
}

// lead begins or confirms leadership. counted is the maximal ISR until now.
func (p *Partition) lead(u *Update, was Role, counted []int32) {
	p.role, p.epochStart = Leader, u.LEO
	if !slices.Contains(p.isr, p.self) {
		p.setISR(append(slices.Clone(u.ISR), p.self)) // a controller never says so; the invariant holds all the same
	}
	old := p.followers
	p.followers = make([]follower, 0, len(p.replicas))
	for _, id := range p.replicas {
		if id == p.self {
			continue
		}
		f := follower{id: id, brokerEpoch: -1, leo: unknownOffset, logStart: unknownOffset, lastLeaderEnd: unknownOffset}
		if i := slices.IndexFunc(old, func(o follower) bool { return o.id == id }); was == Leader && i >= 0 {
			f = old[i]
		}
		f.caughtUp = 0
		if slices.Contains(p.isr, id) {
			f.caughtUp = u.Now // in sync until it proves otherwise
			if !slices.Contains(counted, id) {
				f.leo = unknownOffset // it was let in without us: what it has now we have yet to see
			}
		}
		p.followers = append(p.followers, f)
	}
	p.moveHW(u.Now)
}

// Stop forgets the role: the replica was stopped or its log directory failed.
// The leader epoch stays, so older updates are still refused.
func (p *Partition) Stop() {
	p.role, p.followers, p.proposed = Idle, nil, nil
}

func (p *Partition) setISR(isr []int32) {
	p.isr, p.proposed = slices.Clone(isr), nil
	p.maximal = p.isr
}

// SetMinISR takes a changed min.insync.replicas over. Lowering it may let HW
// move; raising it never takes HW back.
func (p *Partition) SetMinISR(minISR int, now int64) (advanced bool) {
	p.minISR = minISR
	return p.moveHW(now)
}

// Appended tells that the local log ends at leo now and reports whether HW
// moved. The caller is the leader.
func (p *Partition) Appended(leo, now int64) (advanced bool, err error) {
	if p.role != Leader {
		return false, ErrNotLeader
	}
	p.leo = max(p.leo, leo)
	return p.moveHW(now), nil
}

// Replicated tells a follower that its log ends at leo and that the leader's HW
// is leaderHW, and reports whether its own HW moved.
func (p *Partition) Replicated(leo, leaderHW int64) (advanced bool) {
	p.leo = leo
	if hw := min(leaderHW, leo); hw > p.hw {
		p.hw = hw
		return true
	}
	return false
}

// moveHW is the HW rule. A follower that is caught up and may join soon is
// waited for as if it were in the ISR: otherwise HW could pass it just before
// it joins, and it would have to be kept out for ever.
func (p *Partition) moveHW(now int64) bool {
	if p.role != Leader || len(p.isr) < p.EffectiveMinISR() {
		return false
	}
	hw := p.leo
	for i := range p.followers {
		f := &p.followers[i]
		if f.leo < hw && (slices.Contains(p.maximal, f.id) || f.caughtUpTo(p.leo, now, p.lagMax)) {
			hw = f.leo
		}
	}
	if hw <= p.hw {
		return false
	}
	p.hw = hw
	return true
}

// EffectiveMinISR is min.insync.replicas, but never more than there are replicas.
func (p *Partition) EffectiveMinISR() int { return min(p.minISR, len(p.replicas)) }

// UnderMinISR reports whether acks=all must be refused.
func (p *Partition) UnderMinISR() bool { return len(p.isr) < p.EffectiveMinISR() }

// Role is what this broker is for the partition.
func (p *Partition) Role() Role { return p.role }

// LeaderID is the leader's broker id, -1 when there is none.
func (p *Partition) LeaderID() int32 { return p.leader }

// LeaderEpoch is the epoch of the last update, [NoEpoch] before the first.
func (p *Partition) LeaderEpoch() int32 { return p.leaderEpoch }

// PartitionEpoch is the version of the controller's record of the partition.
func (p *Partition) PartitionEpoch() int32 { return p.partitionEpoch }

// EpochStart is where the leader's log ended when its epoch began: below it HW
// is not trusted to be the leader's own yet.
func (p *Partition) EpochStart() int64 { return p.epochStart }

// HighWatermark is the end of what every in-sync replica has.
func (p *Partition) HighWatermark() int64 { return p.hw }

// ISR is the committed ISR; the caller must not change it.
func (p *Partition) ISR() []int32 { return p.isr }

// Replicas are the assigned brokers; the caller must not change them.
func (p *Partition) Replicas() []int32 { return p.replicas }

// Alone reports whether the partition has no other replica, so HW is LEO.
func (p *Partition) Alone() bool { return p.role == Leader && len(p.followers) == 0 }
