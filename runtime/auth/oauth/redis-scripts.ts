/**
 * The scripts of the Redis store. Each gets ARGV[1] = prefix of all keys, ARGV[2] = time in ms, then its own arguments.
 * Records are JSON that scripts do not read; what they decide with are fields of their own. A login belongs to the epoch
 * in which it began: a new epoch drops all logins at once.
 */

const PRELUDE = `
local prefix, now = ARGV[1], tonumber(ARGV[2])
local function key(kind, id) return prefix .. kind .. ':' .. id end
local function epoch() return redis.call('GET', prefix .. 'epoch') or '0' end
local function login(id)
  local found = redis.call('HMGET', key('login', id), 'record', 'epoch', 'token_at', 'first_call_at')
  if not found[1] or found[2] ~= epoch() then return nil end
  return {found[1], found[3] or '', found[4] or ''}
end
local function live(name, at) redis.call('PEXPIRE', name, math.max(1, math.ceil(at - now))) end
local function store(name, at, ...)
  redis.call('HSET', name, ...)
  live(name, at)
end
local function begin(id, record, at, kept)
  store(key('login', id), at, 'record', record, 'epoch', epoch(), 'until', at)
  redis.call('LPUSH', prefix .. 'logins', id)
  redis.call('LTRIM', prefix .. 'logins', 0, tonumber(kept) - 1)
end
local function extend(id, at)
  local name = key('login', id)
  if at > tonumber(redis.call('HGET', name, 'until') or '0') then
    redis.call('HSET', name, 'until', at)
    live(name, at)
  end
end
local function issue(id, access, accessAt, refresh, refreshAt, predecessor)
  accessAt, refreshAt = tonumber(accessAt), tonumber(refreshAt)
  store(key('access', access), accessAt, 'login', id, 'at', accessAt)
  if refresh ~= '' then store(key('refresh', refresh), refreshAt, 'login', id, 'at', refreshAt, 'predecessor', predecessor) end
  extend(id, math.max(accessAt, refreshAt))
end
local function used(client, lasts)
  if redis.call('EXISTS', key('client', client)) == 1 then
    redis.call('PEXPIRE', key('client', client), lasts)
    redis.call('ZREM', prefix .. 'unused', client)
    redis.call('ZADD', prefix .. 'clients', now + tonumber(lasts), client)
  end
end
`;

const script = (body: string): string => PRELUDE + body;

export const SCRIPTS = {
  secretHash: script("return redis.call('GET', prefix .. 'secret') or false"),
  initSecret: script("return redis.call('SETNX', prefix .. 'secret', ARGV[3])"),
  replaceSecret: script(`
redis.call('SET', prefix .. 'secret', ARGV[3])
redis.call('INCR', prefix .. 'epoch')
redis.call('DEL', prefix .. 'logins')`),
  dropTokens: script(`
redis.call('INCR', prefix .. 'epoch')
redis.call('DEL', prefix .. 'logins')`),

  // id, time of registration, record, lifetime, most clients. 'clients' has the time at which each expires.
  addClient: script(`
redis.call('ZREMRANGEBYSCORE', prefix .. 'clients', '-inf', now)
redis.call('ZREMRANGEBYSCORE', prefix .. 'unused', '-inf', now - tonumber(ARGV[6]))
while redis.call('ZCARD', prefix .. 'clients') >= tonumber(ARGV[7]) do
  local oldest = redis.call('ZPOPMIN', prefix .. 'unused')
  if not oldest[1] then return 0 end
  redis.call('DEL', key('client', oldest[1]))
  redis.call('ZREM', prefix .. 'clients', oldest[1])
end
redis.call('SET', key('client', ARGV[3]), ARGV[5], 'PX', ARGV[6])
redis.call('ZADD', prefix .. 'clients', now + tonumber(ARGV[6]), ARGV[3])
redis.call('ZADD', prefix .. 'unused', ARGV[4], ARGV[3])
return 1`),
  client: script("return redis.call('GET', key('client', ARGV[3])) or false"),

  // id, record, lifetime, client, its lifetime, code, its record, its end, how long it is remembered, kept logins
  addLogin: script(`
begin(ARGV[3], ARGV[4], now + tonumber(ARGV[5]), ARGV[12])
used(ARGV[6], ARGV[7])
store(key('code', ARGV[8]), tonumber(ARGV[10]) + tonumber(ARGV[11]), 'login', ARGV[3], 'record', ARGV[9], 'at', ARGV[10], 'used', '0')`),
  code: script(`
local code = redis.call('HMGET', key('code', ARGV[3]), 'record', 'login')
if not code[1] then return false end
local found = login(code[2])
return found and {code[1], found[1], found[2], found[3]} or false`),
  // code, time, access, its end, refresh, its end
  redeem: script(`
local name = key('code', ARGV[3])
local code = redis.call('HMGET', name, 'login', 'used', 'at')
if not code[1] or not login(code[1]) then return 'unknown' end
if code[2] == '1' then
  redis.call('DEL', key('login', code[1]))
  return 'replayed'
end
if tonumber(code[3]) <= tonumber(ARGV[4]) then return 'unknown' end
redis.call('HSET', name, 'used', '1')
redis.call('HSET', key('login', code[1]), 'token_at', ARGV[4])
issue(code[1], ARGV[5], ARGV[6], ARGV[7], ARGV[8], '')
return 'redeemed'`),
  // id, record, client, its lifetime, kept logins, access, its end, refresh, its end
  openLogin: script(`
begin(ARGV[3], ARGV[4], tonumber(ARGV[9]), ARGV[7])
used(ARGV[5], ARGV[6])
issue(ARGV[3], ARGV[8], ARGV[9], ARGV[10], ARGV[11], '')`),

  refresh: script(`
local found = redis.call('HMGET', key('refresh', ARGV[3]), 'login', 'at')
if not found[1] or tonumber(found[2]) <= now then return false end
return login(found[1]) or false`),
  // token, time, sealed successor, lifetime of a client, access, its end, refresh, its end
  rotate: script(`
local name = key('refresh', ARGV[3])
local token = redis.call('HMGET', name, 'login', 'at', 'spent', 'predecessor', 'sealed')
local id = token[1]
local found = id and login(id)
if not found or tonumber(token[2]) <= tonumber(ARGV[4]) then return {'unknown'} end
if token[3] == '1' then
  redis.call('DEL', key('login', id))
  return {'reused'}
end
if token[4] and token[4] ~= '' and redis.call('EXISTS', key('refresh', token[4])) == 1 then
  redis.call('HSET', key('refresh', token[4]), 'spent', '1')
  redis.call('HDEL', key('refresh', token[4]), 'sealed')
end
used(cjson.decode(found[1]).clientId, ARGV[6])
if token[5] then
  issue(id, ARGV[7], ARGV[8], '', '0', '')
  return {'rotated', token[5]}
end
redis.call('HSET', name, 'sealed', ARGV[5])
issue(id, ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[3])
return {'rotated', ARGV[5]}`),
  access: script(`
local token = redis.call('HMGET', key('access', ARGV[3]), 'login', 'at')
if not token[1] then return false end
local found = login(token[1])
return found and {token[2], found[1], found[2], found[3]} or false`),
  noteCall: script("if redis.call('EXISTS', key('login', ARGV[3])) == 1 then redis.call('HSETNX', key('login', ARGV[3]), 'first_call_at', ARGV[4]) end"),
  endLogin: script("redis.call('DEL', key('login', ARGV[3]))"),
  logins: script(`
local all = {}
for _, id in ipairs(redis.call('LRANGE', prefix .. 'logins', 0, -1)) do
  local found = login(id)
  if found and #all < tonumber(ARGV[3]) * 3 then
    for _, part in ipairs(found) do table.insert(all, part) end
  end
end
return all`),

  claimOnce: script("if redis.call('SET', key('once', ARGV[3]), '1', 'PX', ARGV[4], 'NX') then return 1 end return 0"),
  count: script(`
local name = key('count', ARGV[3])
local count = redis.call('INCRBY', name, ARGV[5])
if redis.call('PTTL', name) < 0 then redis.call('PEXPIRE', name, ARGV[4]) end
return {count, redis.call('PTTL', name)}`),
} as const;
