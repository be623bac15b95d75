-- Takes tries out of a shared bucket after the fact: they have been let in already, by a process that asks nobody.
-- KEYS[1]  the bucket: a hash of its level and when that was so (seconds, by Redis' own clock)
-- ARGV     capacity, tries regained a second, tries taken (fewer than none: given back)
-- Returns  the milliseconds until there will be another try; 0 while there is one. Forgotten once it would be full again.
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local capacity, per_second, taken = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local kept = redis.call('HMGET', KEYS[1], 'level', 'at')
local level = tonumber(kept[1]) or capacity
local at = tonumber(kept[2]) or now
level = math.min(capacity, level + math.max(0, now - at) * per_second)
level = math.max(0, math.min(capacity, level - taken))
redis.call('HSET', KEYS[1], 'level', tostring(level), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(capacity / per_second * 1000))
if level >= 1 then
  return 0
end
return math.ceil((1 - level) / per_second * 1000)
