package redislease

import "github.com/redis/go-redis/v9"

var (
	acquire = redis.NewScript(leaseLua + acquireLua)
	extend  = redis.NewScript(leaseLua + extendLua)
	record  = redis.NewScript(leaseLua + recordLua)
)

// The scripts implement for leases in Redis what the statements of package pglease implement for
// leases in Postgres. Each script changes one hash, with one HSET, which is atomic even if the
// server is out of memory. KEYS[1] is the name of the hash. A script returns strings; the first
// one is ok or broken.
//
// A script that would change nothing deletes a field that no lease has. That is a write, so a
// server that has become a replica, whose data may be stale, rejects it.
const (
	// leaseLua is the first part of every script: it reads the lease. Times are in microseconds,
	// by the server's clock. Tokens are compared as strings of digits, because they do not fit
	// into a Lua number. A hash expires after its keep time, but not before the lease or pause
	// that it records has ended. An interrupted call is kept for a year, because it may wait for an
	// operator, and so is a call that becomes one if its process dies.
	leaseLua = `
local key = KEYS[1]
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

local function digits(n)
  return string.format('%.0f', n)
end

local function read()
  local kind = redis.call('TYPE', key).ok
  if kind == 'none' then
    return {}
  end
  if kind ~= 'hash' then
    return nil, 'it is a ' .. kind .. ', not a hash'
  end
  local names = {'state', 'owner', 'token', 'attempts', 'def', 'fp', 'term', 'interrupts', 'keep', 'expires', 'result', 'error', 'holder'}
  local values = redis.call('HMGET', key, unpack(names))
  local lease = {}
  for i, name in ipairs(names) do
    local value = values[i]
    if not value and name ~= 'result' and name ~= 'error' and name ~= 'holder' then
      return nil, 'its field ' .. name .. ' is missing'
    end
    if i > 2 and i < 11 and not string.match(value, '^%d+$') then
      return nil, 'its field ' .. name .. ' is not a number'
    end
    lease[name] = value
  end
  if not string.match(lease.state, '^[pdfi]$') then
    return nil, 'its state is unknown'
  end
  for _, name in ipairs({'attempts', 'term', 'keep', 'expires'}) do
    lease[name] = tonumber(lease[name])
  end
  return lease
end

local function remember(state, interrupts, keep, least)
  if state == 'i' or state == 'p' and interrupts == '1' then
    least = math.max(least, 365 * 24 * 3600 * 1000000)
  end
  redis.call('PEXPIRE', key, digits(math.ceil(math.max(keep, least) / 1000)))
end

local function still()
  redis.call('HDEL', key, 'none')
end

local lease, wrong = read()
if wrong then
  return {'broken', wrong}
end
`

	// acquireLua acquires the lease if it is available. Whether an expired lease becomes
	// Interrupted depends on the setting of the event that acquired it, not on that of the new
	// Ask. An operator's decision applies to tokens smaller than its number; a decision with a
	// result makes no call.
	acquireLua = `
local owner, token, term, interrupts, keep, def, fp, decision, holder, result = unpack(ARGV)

local function greater(a, b)
  return #a > #b or (#a == #b and a > b)
end

local covered = lease.state and greater(decision, lease.token)
local decided = covered or result

local function free()
  if not lease.state then
    return true
  end
  local same = lease.def ~= def or lease.fp == fp
  if lease.state == 'p' then
    return lease.expires <= now and same
  elseif lease.state == 'f' then
    return lease.expires <= now or decided
  end
  return lease.state == 'i' and decided and same
end

local stale = free() and lease.state and not greater(token, lease.token)
if stale or not free() then
  still()
else
  local mine = lease.state == 'p' and lease.owner == owner
  local interrupted = lease.state == 'p' and lease.interrupts == '1' and not mine
  if result then
    lease.state, lease.attempts, lease.error, lease.result = 'd', lease.attempts or 0, '', result
  elseif interrupted then
    lease.state, lease.error = 'i', 'the lease ended before the call did'
  elseif covered and lease.state ~= 'p' then
    lease.state, lease.attempts = 'p', 1
  elseif mine then
    lease.state = 'p'
  else
    lease.state, lease.attempts = 'p', (lease.attempts or 0) + 1
  end
  lease.owner, lease.token, lease.def, lease.fp, lease.expires, lease.holder = owner, token, def, fp, now + tonumber(term), holder
  local fields = {'state', lease.state, 'owner', owner, 'token', token,
    'attempts', digits(lease.attempts), 'def', def, 'fp', fp, 'term', term, 'interrupts', interrupts, 'keep', keep,
    'expires', digits(lease.expires), 'error', lease.error or '', 'holder', holder}
  if result then
    fields[#fields + 1], fields[#fields + 2] = 'result', result
  end
  redis.call('HSET', key, unpack(fields))
  remember(lease.state, interrupts, tonumber(keep), tonumber(term))
end
return {'ok', lease.state, lease.owner == owner and 'own' or 'other', lease.def, lease.fp, lease.token,
  digits(lease.attempts), lease.error or '', digits(lease.expires - now), stale and 'stale' or 'current', lease.holder or '', lease.result or false}
`

	extendLua = `
local owner, token = unpack(ARGV)
if lease.state ~= 'p' or lease.owner ~= owner or lease.token ~= token then
  still()
  return {'ok', 'lost'}
end
redis.call('HSET', key, 'expires', digits(now + lease.term))
remember('p', lease.interrupts, lease.keep, lease.term)
return {'ok', 'held'}
`

	// recordLua also accepts a lease that is already in the new state: the reply to an earlier run
	// was lost. It then changes nothing.
	recordLua = `
local owner, token, state, error, pause, attempts, result = unpack(ARGV)
if not lease.state or lease.owner ~= owner or lease.token ~= token or (lease.state ~= 'p' and lease.state ~= state) then
  still()
  return {'ok', 'lost'}
end
if lease.state ~= 'p' then
  still()
else
  local fields = {'state', state, 'error', error, 'attempts', attempts, 'expires', digits(now + tonumber(pause))}
  if result then
    fields[9], fields[10] = 'result', result
  end
  redis.call('HSET', key, unpack(fields))
  remember(state, lease.interrupts, lease.keep, math.max(lease.term, tonumber(pause)))
end
return {'ok', 'held'}
`
)
