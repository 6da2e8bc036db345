import java.net.*;

public class Hot {
    static long burn() {
        long x = 0;
        for (int n = 0; n < 3_000_000; n++) x += (x ^ n) * n;
        return x;
    }

    public static void main(String[] given) throws Exception {
        var listener = new ServerSocket(Integer.parseInt(given[0]), 64, InetAddress.getByName("127.0.0.1"));
        while (true) {
            try (var connection = listener.accept()) {
                if (burn() != 1)
                    connection.getOutputStream().write("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!".getBytes());
            } catch (SocketException reset) {
                continue;
            }
        }
    }
}
