-- Requests of 65,536 clients, in an order that no cache foresees. run.sh says why third and fourth numbers are even.
local requests, sent = {}, 0

function init()
    math.randomseed(7)
    for number = 1, 65536 do
        local address = string.format("%d.%d.%d.%d", math.random(11, 110), math.random(0, 255), 2 * math.random(0, 127), 2 * math.random(0, 127))
        requests[number] = wrk.format("GET", "/a/b", { ["x-forwarded-for"] = address })
    end
end

function request()
    sent = sent % 65536 + 1
    return requests[sent]
end
