-- Hand-ins for wrk: every prepared request once, over connections that are kept, for so many seconds. Started by `tests/wrk.py`.
--
-- The arguments are the file that `tests.load.write_requests` writes, and the seconds. What wrk sends is to the byte what
-- `tests.load.read_requests` makes of that file. When the time is over a connection gets an empty request, which is no write at all and
-- leaves it silent: so every request that was sent is answered and counted before wrk ends, which would drop those under way.
local ffi = require("ffi")

ffi.cdef [[
typedef struct { long seconds; long nanoseconds; } moment;
int clock_gettime(int clock, moment *now);
]]

local MONOTONIC = 1
local EXHAUSTED = 3 -- exit code: a run without requests would be about nothing

local moment = ffi.new("moment")
local requests, sent = {}, 0
local seconds, ends

local function now()
    ffi.C.clock_gettime(MONOTONIC, moment)
    return tonumber(moment.seconds) + tonumber(moment.nanoseconds) / 1e9
end

function init(arguments)
    local file = assert(io.open(arguments[1]))
    local body = file:read("*l")
    local rest = "\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
    for path, token in file:read("*a"):gmatch("(%S+) (%S+)") do
        requests[#requests + 1] = "POST " .. path .. " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " .. token .. rest
    end
    file:close()
    seconds = tonumber(arguments[2])
end

-- wrk asks once before it begins, to see how long a request is, and does not send that one.
function request()
    local moment_of_it = now()
    ends = ends or moment_of_it + seconds
    if moment_of_it >= ends then
        return ""
    end
    sent = sent + 1
    return requests[sent] or os.exit(EXHAUSTED)
end

-- `status` are the answers of 400 and more; the other errors are no answers.
function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '\n{"answers": %d, "refused": %d, "failed": %d, "p50_us": %d, "p99_us": %d, "max_us": %d}\n',
        summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
        latency:percentile(50), latency:percentile(99), latency.max
    ))
end
